import type { ConnectionConfig, Role } from '@penstock/wire'
import { changesOf, type FormField, type FormValues, valuesOf } from './form-field.ts'

/** Settings of a connector whose values can be listed. */
export type Discovery = {
  readonly accountId: string
  readonly connectorId: string
  /** The configuration with which they are listed; undefined: the first one. */
  readonly configurationId?: string | undefined
  readonly role: Role
  /** Their names. */
  readonly fields: readonly string[]
}

/** The settings of a form that a list depends on, as a connection would have them. */
export function settingsOf(fields: readonly FormField[], values: FormValues): ConnectionConfig {
  const defaults = valuesOf(fields.map(({ value, ...field }) => field))
  const own = fields.filter(({ readonly }) => !readonly)
  return Object.fromEntries(Object.entries(changesOf(defaults, values, own)).filter(([, value]) => value !== null))
}

/** Whether the text of a field has several names, as its definition says. */
export const takesNames = ({ description }: FormField): boolean => /\bseparated by commas\b/.test(description)

/** Names in a text that separates them by commas; a name in double quotes can contain commas. */
export const namesIn = (text: string): string[] =>
  [...text.matchAll(/(?:"[^"]*"|[^,])+/g)].map(([name]) => name.trim()).filter((name) => name !== '')

/** The text with a name more, or without it if it was there. */
export function toggleName(text: string, name: string): string {
  const names = namesIn(text)
  return (names.includes(name) ? names.filter((one) => one !== name) : [...names, name]).join(', ')
}

/** The text with more names. */
export const addNames = (text: string, more: string): string =>
  [...new Set([...namesIn(text), ...namesIn(more)])].join(', ')

/** The folder of a path, with its slash; empty if there is none, or if it is a pattern. */
export function folderOf(path: string): string {
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  return folder.includes('*') ? '' : folder
}

/** The last part of a path, with the slash of a folder. */
export const nameOf = (path: string): string => /[^/]+\/?$/.exec(path)?.[0] ?? path

/** The folder above a folder. Undefined if there is none: the bucket of `s3://bucket/` is the first. */
export function folderAbove(folder: string): string | undefined {
  const [, above] = /^(.*?)[^/]+\/$/.exec(folder) ?? []
  return above === undefined || above.endsWith('//') ? undefined : above
}
