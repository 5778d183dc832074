import java.util.List;

class Trainer {
    double step, loss, kl;
}
