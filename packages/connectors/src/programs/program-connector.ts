import { type Connector, type ConnectorContext, ConnectorError, checkSteps, type Values } from '@penstock/connector'
import { airbyte } from './airbyte.ts'
import { modes, type Program } from './definition-of-program.ts'
import { sessionOf } from './program-session.ts'
import type { ProgramStream, Protocol, Session } from './protocol.ts'
import { readStream } from './read-stream.ts'
import { singer } from './singer.ts'
import type { ProgramWall } from './wall.ts'

/**
 * The connector of a program, with the code that runs it.
 * @param wall isolates the program; by default nothing does
 */
export function programConnector(
  connector: Connector,
  program: Program,
  wall: ProgramWall = { kind: 'open' },
): Connector {
  const protocol = protocolOf(program)
  const open = (context: ConnectorContext) => sessionOf(program, protocol, wall, context)
  return {
    ...connector,
    check: checkSteps([
      'Program',
      async (context) => {
        await protocol.check(open(context))
        return 'The program accepts the configuration.'
      },
    ]),
    source: {
      ...connector.source,
      discover: {
        stream: async (context) => ({
          items: (await protocol.discover(open(context)))
            .filter(({ name }) => name.toLowerCase().includes(context.search.toLowerCase()))
            .slice(0, context.size)
            .map(({ name }) => ({ value: name, kind: 'object' })),
        }),
        columns: async (context) => ({
          items: (await findStream(protocol, open(context), context.settings)).columns.map((name) => ({
            value: name,
            kind: 'column',
          })),
        }),
      },
      open: async (context) => {
        const session = open(context)
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
