import { ConnectorError, type ConnectorErrorCode, type Json, type Values } from '@penstock/connector'
import { parseExactJson } from '@penstock/connector/files'
import type { ProgramForm } from './form.ts'

/**
 * The configuration of the values of a form. Empty values are omitted.
 * @throws ConnectorError `invalid_setting` if a field that must be JSON is not
 */
export function configOf({ fields, json }: ProgramForm, values: Values): Readonly<Record<string, Json>> {
  const code: ConnectorErrorCode = 'invalid_setting'
  const entries = Object.entries(values).flatMap(([key, value]) => {
    if (!(key in fields) || value === undefined || value === '') return []
    if (!json.includes(key)) return [[key, value]]
    try {
      return [[key, parseExactJson(String(value)) as Json]]
    } catch {
      throw new ConnectorError(code, `${fields[key]?.label} must be JSON.`)
    }
  })
  return Object.fromEntries(entries)
}
