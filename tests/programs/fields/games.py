"""Reinforcement learning and search: Q-learning, policy gradients, value iteration, bandits, tree search."""

import numpy as np


def programs(jax):
    """name -> (function, arguments)."""
    return {**grid_world(jax), **policy(jax), **bandit(jax), **tree_search(jax), **actor_critic(jax)}


def grid_world(jax):
    """Q-learning in a grid world with an environment in scan, and value iteration of the same world."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random
    side, goal = 8, 63
    walls = jnp.zeros((side, side), bool).at[2, 1:6].set(True).at[5, 3:].set(True)
    moves = jnp.asarray([(0, 1), (1, 0), (0, -1), (-1, 0)])

    def act(state, action):
        row, column = jnp.clip(jnp.asarray([state // side, state % side]) + moves[action], 0, side - 1)
        new = jnp.where(walls[row, column], state, row * side + column)
        return new, jnp.where(new == goal, 1.0, -0.01), new == goal

    def step(carry, key):
        table, state = carry
        exploring, choosing = random.split(key)
        greedy = jnp.argmax(table[state])
        action = jnp.where(random.uniform(exploring) < 0.2, random.randint(choosing, (), 0, 4), greedy)
        new, reward, done = act(state, action)
        target = reward + 0.95 * jnp.where(done, 0.0, table[new].max())
        table = table.at[state, action].add(0.1 * (target - table[state, action]))
        return (table, jnp.where(done, 0, new)), reward

    def value_iteration(values):
        successors, rewards, done = jax.vmap(lambda s: jax.vmap(lambda a: act(s, a))(jnp.arange(4)))(jnp.arange(64))

        def sweep(state):
            values, _, count = state
            new = (rewards + 0.95 * jnp.where(done, 0.0, values[successors])).max(1)
            return new, jnp.max(jnp.abs(new - values)), count + 1

        return lax.while_loop(lambda s: (s[1] > 1e-3) & (s[2] < 100), sweep, (values, jnp.float32(1), 0))[0]

    table, keys = jnp.zeros((64, 4)), random.split(random.key(13), 200)
    return {
        "Q-learning: step": (lambda t, s, k: step((t, s), k)[0], (table, jnp.int32(0), keys[0])),
        "Q-learning: 200 steps": (lambda t, k: lax.scan(step, (t, jnp.int32(0)), k)[0][0], (table, keys)),
        "value iteration": (value_iteration, (jnp.zeros(64),)),
    }


def pole(jnp, x, force):
    """A pole on a cart, 0.02 s later."""
    _, speed, angle, spin = x
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    push = (force + 0.05 * spin**2 * sine) / 1.1
    turning = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
    pulling = push - 0.05 * turning * cosine / 1.1
    return x + 0.02 * jnp.stack([speed, pulling, spin, turning])


def policy(jax):
    """REINFORCE with a cart and a pole that is simulated inside the program."""
    jnp, lax, nn, random = jax.numpy, jax.lax, jax.nn, jax.random
    rng = np.random.default_rng(31)
    params = {
        "w1": jnp.asarray(rng.normal(size=(4, 16), scale=0.5).astype(np.float32)),
        "w2": jnp.asarray(rng.normal(size=(16, 2), scale=0.3).astype(np.float32)),
    }

    def scores(p, x):
        return jnp.tanh(x @ p["w1"]) @ p["w2"]

    def episode(p, key):
        starting, acting = random.split(key)

        def step(state, key):
            x, alive = state
            action = random.categorical(key, scores(p, x))
            new = pole(jnp, x, jnp.where(action == 1, 10.0, -10.0))
            still = alive & (jnp.abs(new[2]) < 0.2) & (jnp.abs(new[0]) < 2.4)
            return (jnp.where(still, new, x), still), (x, action, alive.astype(jnp.float32))

        x = random.uniform(starting, (4,), minval=-0.05, maxval=0.05)
        return lax.scan(step, (x, jnp.array(True)), random.split(acting, 50))[1]

    def loss(p, xs, actions, alive):
        returns = jnp.cumsum(alive[:, ::-1], 1)[:, ::-1]
        advantages = (returns - returns.mean()) / (returns.std() + 1e-6)
        logs = jnp.take_along_axis(nn.log_softmax(scores(p, xs)), actions[..., None], -1)[..., 0]
        return -jnp.mean(logs * advantages * alive)

    def train(p, key):
        batch = jax.vmap(episode, (None, 0))(p, random.split(key, 8))
        value, slopes = jax.value_and_grad(loss)(p, *batch)
        return jax.tree.map(lambda p, g: p - 0.01 * g, p, slopes), value, batch[2].sum(1).mean()

    return {
        "policy gradient: episode": (episode, (params, random.key(14))),
        "policy gradient: training step": (train, (params, random.key(15))),
    }


def bandit(jax):
    """Slot machines by upper confidence bounds and by Thompson's sampling."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random
    chances = jnp.linspace(0.1, 0.9, 10)

    def confident(state, key):
        wins, plays, time = state
        bound = wins / jnp.maximum(plays, 1) + jnp.sqrt(2 * jnp.log(time) / jnp.maximum(plays, 1))
        arm = jnp.argmax(jnp.where(plays == 0, jnp.inf, bound))
        won = random.bernoulli(key, chances[arm])
        return (wins.at[arm].add(won), plays.at[arm].add(1.0), time + 1), won

    def thompson(state, key):
        wins, losses = state
        drawing, playing = random.split(key)
        arm = jnp.argmax(random.beta(drawing, wins, losses))
        won = random.bernoulli(playing, chances[arm]).astype(jnp.float32)
        return (wins.at[arm].add(won), losses.at[arm].add(1 - won)), arm

    keys = random.split(random.key(16), 100)
    start = (jnp.zeros(10), jnp.zeros(10), jnp.float32(1))
    return {
        "bandit: 100 confident plays": (lambda *s: lax.scan(confident, s[:3], s[3])[0], (*start, keys)),
        "bandit: play by Thompson's sampling": (
            lambda w, l, k: thompson((w, l), k)[0],
            (jnp.ones(10) * 2, jnp.ones(10) * 3, keys[0]),
        ),
    }


LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def tree_search(jax):
    """Monte Carlo tree search for noughts and crosses, the tree in arrays."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random
    lines, nodes = jnp.asarray(LINES), 64

    def winner(board):
        sums = board[lines].sum(-1)
        return jnp.where((sums == 3).any(), 1, jnp.where((sums == -3).any(), -1, 0))

    def ended(board):
        return (winner(board) != 0) | (board != 0).all()

    def playout(board, player, key):
        def play(state):
            board, player, key = state
            key, sub = random.split(key)
            move = jnp.argmax(random.uniform(sub, (9,)) * (board == 0))
            return board.at[move].set(player), -player, key

        return winner(lax.while_loop(lambda s: ~ended(s[0]), play, (board, player, key))[0])

    def search(board, key):
        def descend(tree, board):
            def going(state):
                node, _, board, _, _ = state
                return (node >= 0) & ~ended(board)

            def step(state):
                node, _, board, player, _ = state
                visits, values = tree["visits"][node], tree["values"][node]
                bound = values / jnp.maximum(visits, 1) + jnp.sqrt(
                    2 * jnp.log(visits.sum() + 1) / jnp.maximum(visits, 1)
                )
                bound = jnp.where(visits == 0, 1e3, bound)
                move = jnp.argmax(jnp.where(board == 0, bound, -jnp.inf))
                return tree["children"][node, move], node, board.at[move].set(player), -player, move

            start = (jnp.int32(0), jnp.int32(0), board, jnp.int32(1), jnp.int32(0))
            return lax.while_loop(going, step, start)

        def simulate(count, tree):
            node, parent, leaf, player, move = descend(tree, board)
            result = playout(leaf, player, random.fold_in(key, count))
            fresh = (node < 0) & (count + 1 < nodes)
            children = tree["children"].at[parent, move].set(jnp.where(fresh, count + 1, node))
            above = tree["above"].at[count + 1].set(parent).at[count + 1 + nodes].set(move)

            def up(state):
                at, move, sign, tree = state
                tree = tree | {
                    "visits": tree["visits"].at[at, move].add(1.0),
                    "values": tree["values"].at[at, move].add(sign * result),
                }
                return jnp.where(at == 0, -1, above[at]), above[at + nodes], -sign, tree

            depth = (leaf != board).sum()
            sign = jnp.where(depth % 2 == 1, 1, -1)
            tree = tree | {"children": children, "above": above}
            return lax.while_loop(lambda s: s[0] >= 0, up, (parent, move, sign, tree))[3]

        tree = {
            "visits": jnp.zeros((nodes, 9)), "values": jnp.zeros((nodes, 9)),
            "children": jnp.full((nodes, 9), -1), "above": jnp.zeros(2 * nodes, jnp.int32),
        }  # fmt: skip
        return lax.fori_loop(0, nodes - 1, simulate, tree)["visits"][0]

    board = jnp.asarray([1, -1, 0, 0, 1, 0, 0, 0, -1])
    return {
        "tree search: playout": (playout, (board, jnp.int32(1), random.key(17))),
        "tree search: 63 simulations": (search, (board, random.key(18))),
    }


def actor_critic(jax):
    """Generalized advantages of recorded rewards, and a clipped policy step on them."""
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn
    rng = np.random.default_rng(32)
    draw = lambda *shape: jnp.asarray(rng.normal(size=shape).astype(np.float32))
    params = {"body": draw(8, 32) * 0.3, "policy": draw(32, 4) * 0.2, "value": draw(32, 1) * 0.2}
    states, rewards = draw(64, 8, 8), draw(64, 8)
    actions, done = jnp.asarray(rng.integers(0, 4, (64, 8))), jnp.asarray(rng.uniform(size=(64, 8)) < 0.05)

    def apply(p, x):
        h = nn.relu(x @ p["body"])
        return nn.log_softmax(h @ p["policy"]), (h @ p["value"])[..., 0]

    def advantages(rewards, values, done):
        def step(carry, row):
            later, advantage = carry
            reward, value, done = row
            gap = reward + 0.99 * later * ~done - value
            advantage = gap + 0.99 * 0.95 * advantage * ~done
            return (value, advantage), advantage

        return lax.scan(step, (values[-1], jnp.zeros(8)), (rewards, values, done), reverse=True)[1]

    def loss(p, old, values, gains):
        logs, new_values = apply(p, states)
        ratio = jnp.exp(jnp.take_along_axis(logs, actions[..., None], -1)[..., 0] - old)
        clipped = jnp.minimum(ratio * gains, jnp.clip(ratio, 0.8, 1.2) * gains)
        entropy = -jnp.sum(jnp.exp(logs) * logs, -1)
        return -clipped.mean() + 0.5 * jnp.mean((new_values - values - gains) ** 2) - 0.01 * entropy.mean()

    def train(p, rewards, done):
        logs, values = apply(p, states)
        old = jnp.take_along_axis(logs, actions[..., None], -1)[..., 0]
        gains = advantages(rewards, values, done)
        slopes = jax.grad(loss)(p, old, values, gains)
        return jax.tree.map(lambda p, g: p - 0.01 * g, p, slopes)

    return {
        "advantages": (lambda r, d: advantages(r, states[..., 0], d), (rewards, done)),
        "clipped policy: training step": (train, (params, rewards, done)),
    }
