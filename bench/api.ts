/**
 * `npm run bench:api [-- --accounts 10000]` measures the throughput of the API in one run, and compares each figure with its
 * limit. A figure below its limit is reported but is not a failure: the exit code is 0 unless something could not be measured.
 * `--before <another checkout>`, with its packages installed, also compares reads with that version. `--telemetry` compares reads
 * with and without traces and metrics for a collector. `--only <part of a name>`, `--rounds`, `--seconds` and `--connections` are
 * for work on a single figure.
 */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { cleanupOfRun, startPostgres } from './environment.ts'
import { catalogueFigure, type Figure, growthFigures, readFigures, writeFigures } from './figures.ts'
import { type Comparison, compare } from './measure.ts'
import { freePort, startServer } from './processes.ts'
import { environment, type Service, startService } from './service.ts'

const { values: options } = parseArgs({
  options: {
    accounts: { type: 'string', default: '1000' },
    only: { type: 'string', default: '' },
    before: { type: 'string' },
    telemetry: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '16' },
  },
})
const plan = {
  rounds: Number(options.rounds),
  secondsPerRound: Number(options.seconds),
  connections: Number(options.connections),
}
/** Growth is a factor, not a few percent: fewer rounds show it. */
const growthPlan = { ...plan, rounds: Math.min(3, plan.rounds), secondsPerRound: Math.min(1, plan.secondsPerRound) }
const fullSize = { accounts: Number(options.accounts), connectionsPerAccount: 100 }
const smallSize = { accounts: 100, connectionsPerAccount: 100 }

await using cleanup = cleanupOfRun()

const postgres = await startPostgres(cleanup)
say(
  `Loading ${total(fullSize)} connections in ${number(fullSize.accounts)} accounts, and ${total(smallSize)} elsewhere.`,
)
const service = cleanup.adopt(await startService(postgres, 'large', fullSize), stop)
const small = cleanup.adopt(await startService(postgres, 'small', smallSize), stop)
say(`Measuring ${plan.rounds} rounds of ${plan.secondsPerRound} s on each side, ${plan.connections} connections.`)

if (options.before) {
  const checkout = resolve(options.before)
  // Each version reaches PostgreSQL as its embedded server offers it: earlier versions only through the port.
  const hasSocket = existsSync(join(checkout, 'packages/server/src/embedded/socket.ts'))
  const [byPort = ''] = postgres.serverUrl.split('?')
  const reached = { ...postgres, serverUrl: hasSocket ? postgres.serverUrl : byPort }
  const other = await startService(reached, 'before', fullSize, {}, checkout)
  cleanup.adopt(other, stop)
  heading('Ours beside the other checkout', 'ratio')
  for (const figure of [...readFigures, catalogueFigure]) {
    if (!figure.name.includes(options.only)) continue
    const target = (on: Service) => ({ url: on.url, pick: () => figure.request(on) })
    const compared = await compare(target(service), target(other), plan)
    row({ ...figure, aim: 0.95 }, compared, compared.ratio.toFixed(2), '≥ 0.95')
  }
}
if (options.telemetry) {
  const collector = await startBareHttp(catalogueFigure)
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector }
  const traced = cleanup.adopt(await startService(postgres, 'traced', fullSize, settings), stop)
  heading('Ours with traces and metrics beside ours without', 'ratio')
  for (const figure of [...readFigures, catalogueFigure]) {
    if (!figure.name.includes(options.only)) continue
    const target = (on: Service) => ({ url: on.url, pick: () => figure.request(on) })
    const compared = await compare(target(traced), target(service), plan)
    row({ name: figure.name, request: figure.request }, compared, compared.ratio.toFixed(2), '')
  }
}
const bareFastify = await startBareFastify()
heading('Ours beside bare Fastify with the same statements', 'ratio')
for (const figure of readFigures) await beside(figure, bareFastify)
heading('Ours beside Node’s own server with the same bytes', 'ratio')
await beside(catalogueFigure, await startBareHttp(catalogueFigure))
heading(`${total(fullSize)} connections beside ${total(smallSize)}`, 'times as long')
for (const figure of growthFigures) await besideSmall(figure)
// Writing requests make the database larger, so they come last.
heading('Ours beside bare Fastify with the same inserts', 'ratio')
for (const figure of writeFigures) await beside(figure, bareFastify)

async function startBareFastify(): Promise<string> {
  const port = await freePort()
  const env = {
    PORT: String(port),
    DATABASE_URL: service.databaseUrl,
    ENVIRONMENT: environment,
    ORGANIZATION: service.organizationId,
    CLIENT: service.credentials.clientId,
    SECRET: service.credentials.clientSecret,
  }
  const logFile = join(postgres.directory, 'bare-fastify.log')
  return cleanup.adopt(await startServer('bench/limits/bare-fastify.ts', [], { env, port, path: '/', logFile }), stop)
    .url
}

/** Serves the same answer as the service. */
async function startBareHttp({ request }: Figure): Promise<string> {
  const { path, headers = {} } = request(service)
  const answer = join(postgres.directory, 'answer.json')
  await writeFile(answer, await (await fetch(service.url + path, { headers })).text())
  const port = await freePort()
  const logFile = join(postgres.directory, 'bare-http.log')
  const env = { PORT: String(port), ANSWER: answer }
  return cleanup.adopt(await startServer('bench/limits/bare-http.ts', [], { env, port, path: '/', logFile }), stop).url
}

async function beside(figure: Figure, limitUrl: string): Promise<void> {
  if (!figure.name.includes(options.only)) return
  const pick = () => figure.request(service)
  const compared = await compare({ url: service.url, pick }, { url: limitUrl, pick }, plan)
  row(figure, compared, compared.ratio.toFixed(2), `≥ ${figure.aim?.toFixed(2)}`)
}

async function besideSmall(figure: Figure): Promise<void> {
  if (!figure.name.includes(options.only)) return
  const target = (on: Service) => ({ url: on.url, pick: () => figure.request(on) })
  const compared = await compare(target(service), target(small), growthPlan)
  // Each connection waits for its answer, so that time and throughput are inverse.
  row(figure, compared, (1 / compared.ratio).toFixed(2), figure.aim ? `≤ ${(1 / figure.aim).toFixed(2)}` : '')
}

function heading(title: string, measure: string): void {
  say(`\n${title.padEnd(56)}${['ours/s', 'limit/s', measure, 'aim'].map((text) => text.padStart(14)).join('')}`)
}

function row({ name, aim }: Figure, { subject, limit, ratio }: Comparison, shown: string, shownAim: string): void {
  const verdict = aim === undefined ? '' : ratio >= aim ? 'ok' : 'SHORT'
  const figures = [number(subject), number(limit), shown, shownAim].map((text) => text.padStart(14)).join('')
  say(`${name.padEnd(56)}${figures}  ${verdict}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function total(size: { accounts: number; connectionsPerAccount: number }): string {
  return number(size.accounts * size.connectionsPerAccount)
}

function stop(server: { stop(): Promise<void> }): Promise<void> {
  return server.stop()
}
