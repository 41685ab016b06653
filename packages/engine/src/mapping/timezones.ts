import { isTimezone } from '@penstock/expressions/local'
import type { FieldError } from '@penstock/wire'

/**
 * The error of the setting of a connection, if it names no time zone.
 * @param path its path in the request
 */
export const defaultTimezoneErrors = (setting: unknown, path: string): FieldError[] =>
  setting === undefined || isTimezone(String(setting))
    ? []
    : [{ field: path, message: 'must be the name of a time zone, such as Europe/Berlin' }]
