"""In which language the dashboard answers."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from holter.dashboard.interpreter import Interpreter
from holter.language import speaking, spoken


@pytest.mark.parametrize(
    ("server", "address", "browser", "language"),
    [
        ("en", "/", "", "en"),
        ("en", "/", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en", "/", "fr,de;q=0.9", "en"),
        ("en", "/", "zh;q=0.2, en-US;q=0.7", "en"),
        ("en", "/", "zh;q=0, en;q=0.1", "en"),
        ("en", "/", "zh;q=much, *", "en"),
        ("en", "/?lang=zh", "en", "zh"),
        ("zh", "/", "en", "zh"),
        ("zh", "/?lang=en", "zh", "en"),
        ("zh", "/?lang=klingon", "en", "zh"),
    ],
)
def test_the_address_comes_before_the_server_and_the_server_before_the_browser(server, address, browser, language):
    async def app(scope, receive, send):
        await PlainTextResponse(spoken())(scope, receive, send)

    with speaking(server):
        interpreter = Interpreter(app)
    assert TestClient(interpreter).get(address, headers={"accept-language": browser}).text == language
    assert spoken() == "en"
