import { relative } from 'node:path'
import { type Config, describeEgress } from '../config.ts'
import type { Logger } from '../log.ts'
import { type Credentials, createFirstOrganization, registerEnvironment } from '../organizations/organizations.ts'
import { runnerOptions } from '../runners/options.ts'
import { createRunnerPool } from '../runners/runner-pool.ts'
import { createService, type Service } from '../service.ts'
import { startWorker } from '../worker/worker.ts'
import { credentialsFile, makeDataDirectory, migrateGround, openGround, readIfThere, writePrivate } from './ground.ts'
import { explainListenFailure } from './port.ts'
import { logWarnings } from './warnings.ts'

/** `penstock serve`: the whole service, until it is told to stop. What was opened is closed in the reverse order. */
export async function serve(config: Config, log: Logger): Promise<void> {
  const told = untilTold()
  await using opened = new AsyncDisposableStack()
  await logWarnings(process.env, config, log)
  const ground = await openGround(config, log, { database: true, masterKey: true })
  opened.defer(ground.close)
  await migrateGround(ground)
  const first = await prepareFirstOrganization(config, ground.database)
  const runners = createRunnerPool(runnerOptions(config), log)
  opened.defer(runners.close)
  if (config.worker) opened.defer((await startWorker(config, { ...ground, runners }, log)).stop)
  const service = await createService(config, { ...ground, runners, log })
  opened.defer(service.close)
  await listen(service, config)
  logEgress(config, log)
  log.info({ address: config.publicUrl, environment: config.environment.name }, 'serving')
  process.stdout.write(await welcome(config, first))
  await told
  log.info('stopping: answering what is in flight')
}

async function listen({ app }: Service, { host, port }: Config): Promise<void> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    throw explainListenFailure(error, host, port)
  }
}

/** `penstock worker`: background jobs alone, until it is told to stop. */
export async function work(config: Config, log: Logger): Promise<void> {
  const told = untilTold()
  await using opened = new AsyncDisposableStack()
  await logWarnings(process.env, config, log)
  const ground = await openGround(config, log)
  opened.defer(ground.close)
  await migrateGround(ground)
  const runners = createRunnerPool(runnerOptions(config), log)
  opened.defer(runners.close)
  opened.defer((await startWorker(config, { ...ground, runners }, log)).stop)
  logEgress(config, log)
  log.info('working')
  await told
}

function logEgress({ egress }: Config, log: Logger): void {
  log.info({ egress: egress.reach, message: describeEgress(egress) }, 'egress')
}

/** Within this, signals tell the same once: Ctrl-C reaches every process of a terminal, and npm hands it on as well. */
const echoMs = 500

/** Resolves at the first signal to stop. One that comes later than its echo does not wait for anything. */
function untilTold(): Promise<void> {
  return new Promise((resolve) => {
    let toldMs: number | undefined
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (toldMs !== undefined && performance.now() - toldMs > echoMs) process.exit(1)
        toldMs ??= performance.now()
        resolve()
      })
    }
  })
}

/** Creates the first organization where there is none; generated credentials are kept in the data directory. */
async function prepareFirstOrganization(
  config: Config,
  database: Parameters<typeof createFirstOrganization>[0],
): Promise<Credentials | undefined> {
  await registerEnvironment(database, config)
  const given = config.firstClient && { clientId: config.firstClient.id, clientSecret: config.firstClient.secret }
  return createFirstOrganization(database, given, async (credentials) => {
    if (given) return
    await makeDataDirectory(config)
    await writePrivate(credentialsFile(config), `${JSON.stringify(credentials)}\n`)
  })
}

/** What a person at the terminal does next. */
async function welcome(config: Config, first: Credentials | undefined): Promise<string> {
  const api = `${config.publicUrl}/es/v2`
  const nearby = relative(process.cwd(), credentialsFile(config))
  const file = nearby.startsWith('..') ? credentialsFile(config) : nearby
  const kept = (await readIfThere(credentialsFile(config))) !== undefined
  const generated = first && !config.firstClient
  const lines = [
    `Penstock serves ${config.publicUrl} (documentation: ${config.publicUrl}/docs)`,
    describeEgress(config.egress),
    '',
  ]
  if (generated) {
    lines.push(
      `Your client credentials, to sign in there, shown this once and kept in ${file}:`,
      `  client id      ${first.clientId}`,
      `  client secret  ${first.clientSecret}`,
      '',
    )
  }
  const credentials = shellWord(kept ? `@${file}` : '{"clientId":"…","clientSecret":"…"}')
  lines.push(
    'Try it:',
    `  TOKEN=$(curl -s ${api}/oauth/client-token -H 'Content-Type: application/json' -d ${credentials} | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')`,
    `  curl -s ${api}/accounts -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"name":"First account"}'`,
    `  curl -s ${api}/accounts -H "Authorization: Bearer $TOKEN"`,
    '',
  )
  return `${lines.join('\n')}\n`
}

/** A text as a shell takes it for one word, as it is. */
const shellWord = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
