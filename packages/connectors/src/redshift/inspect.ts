import type { Finding, InspectionContext } from '@penstock/connector'
import { inspectionsOf } from '../kit/warehouse/inspect.ts'
import { assertWritable } from './check.ts'
import { copyRoleOf } from './copy.ts'
import { stagingPlaceOf } from './staging.ts'
import { redshiftTables } from './table.ts'

const inspections = inspectionsOf(redshiftTables, assertWritable)
export const { tryRows, discoverColumns } = inspections

/** Looks up the schema and the table, and compares columns and values with it. Changes nothing. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  // Both throw if the settings are invalid.
  stagingPlaceOf(context.settings)
  copyRoleOf(context.secrets)
  return inspections.inspect(context)
}
