import type { ConnectorContext, Json } from '@penstock/connector'
import { configOf } from './config-of-form.ts'
import type { Program } from './definition-of-program.ts'
import { isObject, objectOf, type Protocol, type Session } from './protocol.ts'
import type { ProgramWall } from './wall.ts'

type Context = Pick<ConnectorContext, 'secrets' | 'signal' | 'saveSecret' | 'log'>

/**
 * How a program is run in a job. Of its asides, lines go to the log of the transfer, and secrets that it
 * replaces, such as a refresh token for one use, are saved before its next line is read.
 */
export function sessionOf(program: Program, protocol: Protocol, wall: ProgramWall, context: Context): Session {
  let config = configOfProgram(program, context.secrets)
  const { aside } = protocol
  return {
    command: program.command,
    wall,
    config: () => config,
    signal: context.signal,
    log: (line) => context.log(line),
    ...(aside && {
      hear: async (line: string) => {
        // Few lines are asides, and a record can be large.
        const message = /"(LOG|CONTROL)"/.test(line) ? objectOf(line) : undefined
        const heard = message && aside(message)
        if (!heard) return false
        if (heard.kind === 'log') context.log(heard.text)
        else config = await keep(program, context, config, heard.config)
        return true
      },
    }),
  }
}

/**
 * Saves the secrets of a configuration that differ from the secrets of another one. Other values are only kept for this job:
 * people set them, and programs derive them again.
 * @returns the configuration that is used from now on
 */
async function keep(
  { form }: Program,
  { saveSecret }: Context,
  before: Json,
  now: Readonly<Record<string, unknown>>,
): Promise<Json> {
  const had = isObject(before) ? before : {}
  for (const [key, { type }] of Object.entries(form.fields)) {
    const value = now[key]
    if (type !== 'Password' || value === undefined || value === null) continue
    const text = form.json.includes(key) ? JSON.stringify(value) : String(value)
    const saved = form.json.includes(key) ? JSON.stringify(had[key]) : String(had[key])
    if (text !== saved) await saveSecret(key, async () => text)
  }
  return { ...had, ...now } as Json
}

/** A tap has one field, which is all of its configuration. */
function configOfProgram({ protocol, form }: Program, secrets: ConnectorContext['secrets']): Json {
  const config = configOf(form, secrets)
  return protocol === 'airbyte' ? config : (config.config ?? {})
}
