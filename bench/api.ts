/**
 * `npm run bench:api [-- --large]`: what the interface can do, each figure beside its limit, in one run.
 * A figure that falls short is said so and is no failure: the exit code is 0 unless something could not be measured.
 * `--only <part of a name>`, `--rounds`, `--seconds` and `--connections` are for whoever works on one figure.
 */
import { writeFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../packages/server/src/embedded/embedded-postgres.ts'
import { catalogueFigure, type Figure, growthFigures, readFigures, writeFigures } from './figures.ts'
import { type Comparison, compare, type Target } from './measure.ts'
import { freePort, startServer } from './processes.ts'
import { environment, type Service, startService } from './service.ts'

const { values: options } = parseArgs({
  options: {
    large: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '16' },
  },
})
const rounds = {
  rounds: Number(options.rounds),
  secondsPerRound: Number(options.seconds),
  connections: Number(options.connections),
}
const size = { accounts: options.large ? 10_000 : 1_000, connectionsPerAccount: 100 }
const smallSize = { accounts: 100, connectionsPerAccount: 100 }

/** What is undone at the end, the last thing first. */
const cleanup: (() => Promise<unknown>)[] = []
let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (interrupted = true))

try {
  await main()
} finally {
  for (const undo of cleanup.reverse()) await undo()
}

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'penstock-bench-'))
  cleanup.push(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }))
  // PostgreSQL, which does not run as root, has to pass through.
  await chmod(directory, 0o711)
  const postgres = join(directory, 'postgres')
  cleanup.push(() => removeEmbeddedPostgres(postgres))
  const { url: serverUrl } = await startEmbeddedPostgres({ directory: postgres })

  say(`Loading ${count(size.accounts * size.connectionsPerAccount)} connections in ${count(size.accounts)} accounts`)
  const service = await startService({ serverUrl, name: 'full', directory }, size)
  cleanup.push(service.stop)
  const small = await startService({ serverUrl, name: 'small', directory }, smallSize)
  cleanup.push(small.stop)
  const bare = await startBareFastify(service, directory)

  say(`Measuring: ${rounds.rounds} rounds of ${rounds.secondsPerRound} s, ${rounds.connections} connections`)
  heading('Beside a bare Fastify route with the same statements', ['ours', 'bare', 'ratio', 'aim'])
  for (const figure of readFigures) await report(figure, target(figure, service), { url: bare, pick: picker(figure, service) })
}
