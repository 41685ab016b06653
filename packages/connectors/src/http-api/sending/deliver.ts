import {
  type Batch,
  type ConnectorContext,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type DiscoveredPage,
  type DiscoveryContext,
  type Finding,
  type InspectionContext,
  type Rejection,
} from '@penstock/connector'
import { rejectionsOf as eventRejectionsOf, openEvents } from '../../kit/run/events.ts'
import { askCheck } from '../api/ask-check.ts'
import { paced } from '../api/pace.ts'
import type { ApiOperation } from '../definition/definition.ts'
import { pageAt } from '../definition/names-page.ts'
import { definitionOf } from '../definition/parse-definition.ts'
import { operationFacts, operationOf } from './operation-facts.ts'
import { removalIn, removingContext, withRemovals } from './removals.ts'

function factsOf<Context extends ConnectorContext>(context: Context) {
  const definition = definitionOf(context)
  return operationFacts(operationOf(definition, context.settings.operation), paced(context, definition.pace))
}

/** Opens a writer of the operation that a connection chose, and of the one that removes rows. Throws connector errors. */
export async function open(given: DestinationContext): Promise<DestinationWriter> {
  const removal = removalIn(given.settings)
  const writes = await openOperation(given)
  return removal ? withRemovals(writes, await openOperation(removingContext(given, removal)), removal) : writes
}

async function openOperation(given: DestinationContext): Promise<DestinationWriter> {
  const { facts, context } = factsOf(given)
  const [wrong] = judgeColumns(operationOf(definitionOf(given), given.settings.operation), given.columns)
  if (wrong) throw new ConnectorError('columns_do_not_fit', wrong.message)
  return openEvents(facts, context)
}

/** Makes the function that finds the rows that are not sent, without the API. */
export async function rejectionsOf(
  context: Pick<DestinationContext, 'settings' | 'secrets'>,
): Promise<(batch: Batch) => readonly Rejection[]> {
  const { facts } = factsOf(context as ConnectorContext)
  return eventRejectionsOf(facts, context)
}

/** The columns of a connection that do not fit its operation. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  factsOf(context)
  const definition = definitionOf(context)
  if (definition.check) await askCheck(context, definition.check)
  const removal = removalIn(context.settings)
  return [
    ...judgeColumns(operationOf(definition, context.settings.operation), context.columns),
    ...(removal ? judgeColumns(operationOf(definition, removal.operation), removal.by) : []),
  ]
}

/** Columns that the operation does not have, and columns that it needs and are not mapped. */
function judgeColumns({ columns }: ApiOperation, given: readonly string[]): Finding[] {
  const code = 'columns_do_not_fit' as const
  const names = Object.keys(columns)
  const known = names.join(', ').slice(0, 300)
  const identifying = names.filter((name) => columns[name]?.identifies)
  const isIdentified = identifying.length === 0 || identifying.some((name) => given.includes(name))
  return [
    ...given
      .filter((name) => !Object.hasOwn(columns, name))
      .map((column) => ({
        code,
        message: `The operation has no column ${column}; map it to one of ${known}, or leave it out.`,
        column,
      })),
    ...names
      .filter((name) => columns[name]?.required && !given.includes(name))
      .map((name) => ({ code, message: `The operation needs the column ${name}; map a column to it.` })),
    ...(isIdentified
      ? []
      : [{ code, message: `The operation needs one of the columns ${identifying.join(', ')}; map a column to it.` }]),
  ]
}

/** Lists the operations of the definition. */
export async function discoverOperations({ secrets, search, cursor, size }: DiscoveryContext): Promise<DiscoveredPage> {
  const names = Object.keys(definitionOf({ secrets }).operations)
  const found = names.filter((name) => name.toLowerCase().includes(search.toLowerCase()))
  return pageAt(found, cursor, size, (value) => ({ value, kind: 'table' }))
}

/** Lists the columns of an operation. */
export async function discoverOperationColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const { settings, search, cursor, size } = context
  const { columns } = operationOf(definitionOf(context), settings.operation)
  const found = Object.keys(columns).filter((name) => name.toLowerCase().includes(search.toLowerCase()))
  return pageAt(found, cursor, size, (value) => ({
    value,
    kind: 'column',
    type: columns[value]?.type,
    required: columns[value]?.required ?? false,
  }))
}
