import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seed } from './harness/seed.ts'
import { chooseCall, type Focus } from './simulation/calls.ts'
import { trigger } from './simulation/connection-rules.ts'
import { adoptOrder, assertApart, assertSame, assertSecretsOpen } from './simulation/invariants.ts'
import {
  type Call,
  emptyModel,
  explain,
  isGone,
  type Model,
  type Outcome,
  purgeModel,
  restoreAccountInModel,
} from './simulation/model.ts'
import { type Random, seeded } from './simulation/random.ts'
import { rules } from './simulation/rules.ts'
import { startWorld, type World } from './simulation/world.ts'

/**
 * Thousands of random calls of two organizations, sequential and concurrent, with time that passes, purges and restarts between
 * them. Each answer is compared with a model of the API, and the database is checked against its invariants.
 * PENSTOCK_SIMULATION_STEPS sets the number of steps.
 */

const stepsAtAll = Number(process.env.PENSTOCK_SIMULATION_STEPS ?? 3_000)
const parts = [1, 2, 3]
const stepsBetweenChecks = 20
const daySeconds = 86_400

for (const part of parts) {
  const steps = Math.ceil(stepsAtAll / parts.length)
  test(`${steps} random steps agree with the model, part ${part} (PENSTOCK_TEST_SEED=${seed})`, async () => {
    await using world = Object.assign(await startWorld(), {
      async [Symbol.asyncDispose](this: World) {
        await this.close()
      },
    })
    const simulation: Simulation = { world, random: seeded(seed * 10 + part), model: emptyModel(), said: [] }
    for (let step = 1; step <= steps; step++) {
      try {
        await takeStep(simulation)
        if (step % stepsBetweenChecks === 0 || step === steps) await assertSame(world, simulation.model)
        if (step % (10 * stepsBetweenChecks) === 0 || step === steps) {
          await assertSecretsOpen(world, simulation.model)
          await assertApart(world, simulation.model)
        }
      } catch (error) {
        const last = simulation.said.slice(-6).join('\n')
        throw new Error(
          `part ${part}, step ${step} of PENSTOCK_TEST_SEED=${seed}: ${(error as Error).message}\n${last}`,
          {
            cause: error,
          },
        )
      }
    }
  })
}

type Simulation = { world: World; random: Random; model: Model; said: string[] }

async function takeStep(simulation: Simulation): Promise<void> {
  const { random } = simulation
  const at = random.int(1_000)
  if (at < 60) return burst(simulation)
  if (at < 110) return meet(simulation)
  if (at < 150) return age(simulation)
  if (at < 165) return purge(simulation)
  if (at < 180) return restore(simulation)
  if (at < 183) return restart(simulation)
  const call = chooseCall(random, simulation.model)
  const outcome = await simulation.world.call(call)
  simulation.said.push(describeCall(call, outcome))
  const wrong = explain(rules, simulation.model, call, outcome)
  assert(!wrong, wrong)
}

const describeCall = ({ org, operation, ...call }: Call, { status, error, payload }: Outcome) =>
  `${org} ${operation} ${JSON.stringify(call)} → ${status} ${error ?? JSON.stringify(payload).slice(0, 600)}`

/** Two or three concurrent calls about the same resources. Their answers must be consistent with one order of the calls. */
async function burst(simulation: Simulation): Promise<void> {
  const { world, random, model, said } = simulation
  const account = random.any([...model.accounts.values()].filter(({ deletedDays }) => deletedDays === undefined))
  if (!account) return
  const connectionId = random.any([...account.connections.keys()])
  const focus: Focus = { org: account.org, accountId: account.id, connectionId }
  const calls = Array.from({ length: 2 + random.int(2) }, () => chooseCall(random, model, focus))
  const outcomes = await Promise.all(calls.map((call) => world.call(call)))
  // Which version an ETag was of is not certain where several orders fit.
  const pairs = calls.map((call, index) => ({ call, outcome: { ...(outcomes[index] as Outcome), etag: undefined } }))
  said.push(`at once:\n  ${pairs.map(({ call, outcome }) => describeCall(call, outcome)).join('\n  ')}`)
  const reasons: string[] = []
  for (const order of permutations(pairs)) {
    const tried = structuredClone(model)
    const wrong =
      firstOf(order, ({ call, outcome }) => explain(rules, tried, call, outcome)) ??
      (await differenceFrom(world, tried, account.id))
    if (wrong === undefined) {
      simulation.model = tried
      return adoptOrder(world, tried)
    }
    reasons.push(wrong)
  }
  assert.fail(`no order explains what happened at once; each fails with:\n  ${reasons.join('\n  ')}`)
}

/** Difference between the database and the model. Undefined if there is no difference. */
const differenceFrom = (world: World, model: Model, accountId: string): Promise<string | undefined> =>
  Promise.all([assertSame(world, model), assertSecretsOpen(world, model, accountId)]).then(
    () => undefined,
    (error: Error) => error.message,
  )

function permutations<T>(all: readonly T[]): T[][] {
  if (all.length === 0) return [[]]
  return all.flatMap((one, index) => permutations(all.toSpliced(index, 1)).map((rest) => [one, ...rest]))
}

function firstOf<T, R>(all: readonly T[], find: (one: T) => R | undefined): R | undefined {
  for (const one of all) {
    const found = find(one)
    if (found !== undefined) return found
  }
  return undefined
}

/** A transfer or a probe meets a connection. */
async function meet({ world, random, model, said }: Simulation): Promise<void> {
  const accounts = [...model.accounts.values()].filter(({ deletedDays }) => deletedDays === undefined)
  const account = random.any(accounts)
  const connection = random.any([...(account?.connections.values() ?? [])].filter((one) => !isGone(one)))
  if (!account || !connection) return
  const by = random.pick(['breakdown', 'outage', 'recovery'] as const)
  said.push(`${by} of ${connection.id}, ${connection.status}`)
  await world.meet(account.id, connection.id, by)
  trigger(account, connection, by)
}

/** Time passes for something that is deleted, or for a first answer: often up to just before or behind its edge. */
async function age({ world, random, model, said }: Simulation): Promise<void> {
  const days = random.pick([5, 29.99, 30.01, 40])
  const kind = random.pick(['connection', 'account', 'key'] as const)
  said.push(`time passes for a ${kind}`)
  if (kind === 'key') {
    const key = random.any([...model.keys.values()])
    const hours = random.pick([1, 23.9, 24.1])
    if (!key || hours <= key.hours) return
    await world.age(key, Math.round((hours - key.hours) * 3_600))
    key.hours = hours
    return
  }
  const accounts = [...model.accounts.values()]
  if (kind === 'account') {
    const account = random.any(accounts.filter(({ deletedDays = days }) => deletedDays < days))
    if (account?.deletedDays === undefined) return
    const passed = days - account.deletedDays
    await world.age({ account: account.id }, Math.round(passed * daySeconds))
    account.deletedDays = days
    for (const connection of account.connections.values())
      connection.deletedDays = (connection.deletedDays ?? 0) + passed
    return
  }
  const live = accounts.filter(({ deletedDays }) => deletedDays === undefined)
  const deleted = live.flatMap(({ connections }) => [...connections.values()])
  const connection = random.any(deleted.filter(({ deletedDays = days }) => deletedDays < days))
  if (connection?.deletedDays === undefined) return
  await world.age({ connection: connection.id }, Math.round((days - connection.deletedDays) * daySeconds))
  connection.deletedDays = days
}

async function purge({ world, model, said }: Simulation): Promise<void> {
  said.push('purge')
  await world.purge()
  purgeModel(model)
  await assertSame(world, model)
}

/** An operator restores an account that is deleted, or one that is not. */
async function restore({ world, random, model, said }: Simulation): Promise<void> {
  const all = [...model.accounts.values()]
  const account = random.any(random.percent(90) ? all.filter(({ deletedDays }) => deletedDays !== undefined) : all)
  if (!account) return
  said.push(`restore of account ${account.id}, deleted for ${account.deletedDays} days`)
  assert.equal(await world.restoreAccount(account.id), restoreAccountInModel(model, account.id))
}

async function restart({ world, model, said }: Simulation): Promise<void> {
  said.push('restart')
  await world.restart()
  await assertSecretsOpen(world, model)
}
