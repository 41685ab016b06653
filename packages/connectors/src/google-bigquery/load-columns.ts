import type { LoadedColumn } from '../kit/warehouse/loaded-rows.ts'
import { makeLoadRules, withCommon } from '../kit/warehouse/loaded-values.ts'
import { numberIn } from '../platform-api/json.ts'
import type { TargetField } from './target-values.ts'

const rules = makeLoadRules({
  contains: (text, pattern) => `regexp_contains(${text}, r'${pattern}')`,
  replaced: (text, pattern, by) => `regexp_replace(${text}, r'${pattern}', r'${by.replaceAll('$', '\\')}')`,
  tryCast: (text, type) => `safe_cast(${text} as ${type})`,
  isInfinite: (number) => `is_inf(${number})`,
  types: { decimal: 'numeric', float: 'float64', text: 'string' },
})

/**
 * How a column is filled from the text of a column of the staging table, by the rules with which `target-values.ts` reads cells.
 * @param text SQL of the text: NULL if the file has nothing there
 * @returns `undefined` for a type whose texts only a worker reads
 */
export function loadedColumn(column: TargetField, text: string): LoadedColumn | undefined {
  const typed = column.repeated ? undefined : typedColumn(column, text)
  if (!typed) return undefined
  const filled = column.type === 'STRING' ? text : rules.filled(text)
  return withCommon(typed, text, {
    needed: column.needed ? filled : undefined,
    contains: (of) => `strpos(${of}, '\ufffd') > 0`,
  })
}

function typedColumn({ type, schema }: TargetField, text: string): LoadedColumn | undefined {
  const [precision, scale] = [numberIn(schema.precision), numberIn(schema.scale) ?? 0]
  switch (type) {
    case 'STRING':
      return rules.text(text, numberIn(schema.maxLength))
    case 'INTEGER':
      return rules.whole(text, 'int64')
    case 'NUMERIC':
      return rules.decimal(text, 'numeric', precision === undefined ? [29, 9] : [precision - scale, scale])
    case 'BIGNUMERIC':
      return rules.decimal(text, 'bignumeric', precision === undefined ? [38, 38] : [precision - scale, scale])
    case 'FLOAT':
      return rules.float(text)
    case 'BOOLEAN':
      return rules.truth(text)
    case 'DATE':
      return rules.date(text)
    case 'TIME':
      return rules.timeOfDay(text)
    case 'DATETIME':
      return rules.time(text, (time) => `datetime(${time}, 'UTC')`)
    case 'TIMESTAMP':
      return rules.time(text, (time) => time)
    default:
      return undefined
  }
}

/** A column of the staging table, by the index of the column of the source. */
export const stagedName = (index: number): string => `c${index}`
