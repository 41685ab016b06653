import { namesIn } from '../../../components/fields/discovery.ts'
import type { FormValues } from '../../../components/fields/form-field.ts'

/** The names that a connection of many tables gives to its tables at the destination. */

export type TableName = { readonly from: string; readonly to: string }

export const areManyTables = ({ dataSourceType }: FormValues): boolean => dataSourceType === 'Many Tables'

/** A part of a name, in quotes or not: `"odd. ""name"""` or `orders`. */
const part = /"((?:[^"]|"")*)"|[^."]+/g

/** The name of each table or pattern of the source at the destination, whose names are templates. */
export function namesAtDestination(source: FormValues, destination: FormValues): readonly TableName[] {
  const fill = (template: string, schema: string, table: string) =>
    template.replace(/\{(schema|table)\}/g, (_, name) => (name === 'schema' ? schema : table))
  const template = String(destination.table ?? '')
  if (!areManyTables(source) || template === '') return []
  return namesIn(String(source.tables ?? '')).map((from) => {
    const parts = [...from.matchAll(part)].map(([plain, quoted]) => quoted?.replaceAll('""', '"') ?? plain)
    const table = parts.at(-1) ?? ''
    const schema = parts.length > 1 ? (parts[0] ?? '') : '*'
    const place = [destination.schema ?? destination.dataset, template].map((one) => String(one ?? ''))
    return {
      from,
      to: place
        .filter((one) => one !== '')
        .map((one) => fill(one, schema, table))
        .join('.'),
    }
  })
}
