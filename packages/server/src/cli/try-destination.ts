import { insecureAddresses, missingValues, readValues, type Values } from '@penstock/connector'
import { connectors } from '@penstock/connectors'
import type { ShownTrial } from '@penstock/engine'
import { limits } from '@penstock/wire'
import { fieldCounts } from '@penstock/wire/rules'
import { type Config, ConfigError } from '../config.ts'
import type { Logger } from '../log.ts'
import { runnerOptions } from '../runners/options.ts'
import { createRunnerPool } from '../runners/runner-pool.ts'
import { EndJob } from '../runners/runner-process.ts'
import { createInteractiveJobs } from '../transfers/interactive.ts'
import { requestTimeoutMs, rowsToTry } from '../transfers/requests.ts'
import { namedSecrets, namedValues, readInput } from './inputs.ts'
import { print, printable } from './print.ts'

/** `penstock connector try`: rows at a destination that is described in a file, without a service and a database. */

type TryOptions = {
  readonly rows: string
  readonly operation: string
  readonly value?: readonly string[]
  readonly secret?: readonly string[]
  readonly parameter?: readonly string[]
  readonly json?: boolean
}

/**
 * Sends the rows by an operation of the definition, and prints requests, answers and the result of each row.
 * The exit code is 1 if a row was not accepted.
 * @throws ConfigError if the definition, the rows or a value cannot be used: nothing was sent then
 */
export async function tryDestinationCommand(
  config: Config,
  log: Logger,
  file: string,
  { rows: rowsFile, operation, json, ...given }: TryOptions,
): Promise<void> {
  const connector = connectors.find(({ slug }) => slug === 'http-api')
  if (!connector) throw new Error('The catalogue has no connector http-api')
  const definition = await readInput(file, 'definition')
  const rows = readRows(await readInput(rowsFile, 'file of three rows'), rowsFile)
  const secrets = { ...namedValues('--value', given.value), ...(await namedSecrets('--secret', given.secret)) }
  const values = configurationOf(connector.secrets, { ...secrets, definition }, file, config)
  const settings = {
    operation,
    parameters: new URLSearchParams(namedValues('--parameter', given.parameter)).toString(),
  }
  const pool = createRunnerPool({ ...runnerOptions(config), spare: false }, log)
  try {
    const result = await createInteractiveJobs(pool, { atOnce: 1, perOrganization: 1 }).run(
      {
        kind: 'try',
        connector: { slug: connector.slug, secrets: values, settings },
        entered: true,
        ...rowsToTry(rows),
        startedTime: new Date().toISOString(),
        deadlineMs: requestTimeoutMs,
      },
      { organizationId: 'command', id: 'command' },
      new AbortController().signal,
      withoutService,
    )
    if (!result.ok) throw new Error(result.failure.message)
    const { value } = result
    print(value, json, printable(wordsOf(value)))
    if (value.rows.some(({ state }) => state !== 'accepted')) process.exitCode = 1
  } finally {
    await pool.close()
  }
}

/** Nothing is saved, so that a job can ask for nothing. */
const withoutService = {
  answer: async (): Promise<never> => {
    throw new EndJob(false, 0)
  },
  close: async () => {},
}

/** The configuration of the connector. Throws `ConfigError` with all that is wrong with it. */
function configurationOf(
  fields: Parameters<typeof readValues>[0],
  given: Readonly<Record<string, string>>,
  file: string,
  { plainHttp }: Config,
): Values {
  const { set, fieldErrors } = readValues(fields, given, '')
  const unused = Object.keys(set).filter((key) => !fieldCounts(fields, key, set))
  const wrong = [
    ...fieldErrors,
    ...(fieldErrors.length > 0 ? [] : missingValues(fields, set, '')),
    ...insecureAddresses(fields, set, plainHttp).map(({ key, message }) => ({ field: `.${key}`, message })),
    ...unused.map((key) => ({
      field: `.${key}`,
      message: `is not used with the authentication ${set.authentication ?? 'none'}: name another one with --value authentication=…`,
    })),
  ]
  if (wrong.length === 0) return set
  throw new ConfigError(
    wrong.map(({ field, message }) => {
      const name = field.slice(1)
      const option = fields[name]?.type === 'Password' ? '--secret' : '--value'
      return `${name === 'definition' ? file : `${option} ${name}`} ${message.replace(/\.$/, '')}.`
    }),
  )
}

/** Rows of a JSON document: a list of objects. Throws `ConfigError`. */
function readRows(text: string, file: string): Record<string, string | null>[] {
  const rows = parse(text)
  const wrong = (why: string) => new ConfigError([`${file} ${why}.`])
  if (!Array.isArray(rows) || rows.length === 0 || rows.length > limits.triedRowsMax)
    throw wrong(`must be a JSON list of 1 to ${limits.triedRowsMax} rows, such as [{"email": "ada@example.com"}]`)
  return rows.map((row: unknown, index) => {
    const at = `row ${index + 1}`
    if (typeof row !== 'object' || row === null || Array.isArray(row))
      throw wrong(`must have objects; ${at} is not one`)
    const cells = Object.entries(row)
    if (cells.length > limits.triedColumnsMax) throw wrong(`has more than ${limits.triedColumnsMax} columns in ${at}`)
    return Object.fromEntries(
      cells.map(([column, value]) => {
        const cell = typeof value === 'string' || value === null ? value : JSON.stringify(value)
        if (cell !== null && cell.length > limits.triedValueLengthMax)
          throw wrong(`has more than ${limits.triedValueLengthMax} characters in ${at}, ${JSON.stringify(column)}`)
        return [column, cell]
      }),
    )
  })
}

/** A JSON value in which numbers are texts with all their digits; `undefined` if it is not JSON. */
function parse(text: string): unknown {
  const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown
  try {
    return parseWith(text, (_, value, { source }) => (typeof value === 'number' ? (source ?? value) : value))
  } catch {
    return undefined
  }
}
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

function wordsOf({ exchanges, rows, error }: ShownTrial): string {
  return [
    ...exchanges.flatMap(({ request, answer }, index) => [
      `Request ${index + 1}: ${request.method} ${request.url}`,
      ...(request.text === '' ? [] : [request.text]),
      `Response ${index + 1}: ${answer.status}, ${answer.durationMs} ms`,
      ...(answer.text === '' ? [] : [answer.text]),
      '',
    ]),
    ...(exchanges.length === 0 ? ['No request was sent.', ''] : []),
    ...rows.map(({ state, reason }, index) => `Row ${index + 1}: ${state}${reason === null ? '' : `. ${reason}`}`),
    ...(error ? ['', error.message] : []),
  ].join('\n')
}
