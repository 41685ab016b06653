import {
  type Connector,
  type ConnectorContext,
  ConnectorError,
  checkSteps,
  type Json,
  type Values,
} from '@penstock/connector'
import { airbyte } from './airbyte.ts'
import { modes, type Program } from './definition-of-program.ts'
import { configOf } from './form.ts'
import type { ProgramStream, Protocol, Session } from './protocol.ts'
import { readStream } from './read-stream.ts'
import { singer } from './singer.ts'

/** The connector of a program, with the code that runs it. */
export function programConnector(connector: Connector, program: Program): Connector {
  const protocol = protocolOf(program)
  const sessionOf = ({ secrets, signal }: Pick<ConnectorContext, 'secrets' | 'signal'>): Session => ({
    command: program.command,
    config: configOfProgram(program, secrets),
    signal,
  })
  return {
    ...connector,
    check: checkSteps([
      'Program',
      async (context) => {
        await protocol.check(sessionOf(context))
        return 'The program accepts the configuration.'
      },
    ]),
    source: {
      ...connector.source,
      discover: {
        stream: async (context) => ({
          items: (await protocol.discover(sessionOf(context)))
            .filter(({ name }) => name.toLowerCase().includes(context.search.toLowerCase()))
            .slice(0, context.size)
            .map(({ name }) => ({ value: name, kind: 'object' })),
        }),
        columns: async (context) => ({
          items: (await findStream(protocol, sessionOf(context), context.settings)).columns.map((name) => ({
            value: name,
            kind: 'column',
          })),
        }),
      },
      open: async (context) => {
        const session = sessionOf(context)
        const stream = await findStream(protocol, session, context.settings)
        const incremental = context.settings.mode === modes.new
        if (incremental && !stream.incremental) {
          throw new ConnectorError(
            'invalid_setting',
            `The stream ${stream.name} cannot say what is new: choose to read everything.`,
          )
        }
        const { cursorField } = context.settings
        const reading = {
          stream,
          incremental,
          cursorField: typeof cursorField === 'string' && cursorField !== '' ? cursorField : undefined,
          cursor: incremental && typeof context.cursor === 'string' ? context.cursor : undefined,
        }
        const closing = new AbortController()
        const signal = AbortSignal.any([session.signal, closing.signal])
        return {
          read: (after) => readStream(protocol, { ...session, signal }, reading, after),
          close: async () => closing.abort(),
        }
      },
    },
  }
}

/** A tap has one field, which is all of its configuration. */
function configOfProgram({ protocol, form }: Program, secrets: Values): Json {
  const config = configOf(form, secrets)
  return protocol === 'airbyte' ? config : (config.config ?? {})
}

const protocolOf = ({ protocol }: Program): Protocol =>
  protocol === 'airbyte' ? airbyte : singer(protocol === 'singer with properties')

async function findStream(protocol: Protocol, session: Session, settings: Values): Promise<ProgramStream> {
  const streams = await protocol.discover(session)
  const found = streams.find(({ name }) => name === settings.stream)
  if (!found)
    throw new ConnectorError('invalid_setting', 'The program has no stream of this name: choose one that it lists.')
  if (found.columns.length > 0) return found
  throw new ConnectorError(
    'invalid_setting',
    'The program does not say which columns this stream has, so it cannot be read.',
  )
}
