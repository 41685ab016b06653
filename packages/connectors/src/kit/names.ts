import { ConnectorError } from '@penstock/connector'

/** A name of a program in words: `ad_group` is `Ad group`, `keyColumns` is `Key columns`. */
export function inWords(name: string): string {
  const words = name.replaceAll('_', ' ').replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  const named = words.toLowerCase().replaceAll(/\b(?:id|ios)\b/g, (word) => (word === 'id' ? 'ID' : 'iOS'))
  return named.startsWith('iOS') ? named : named.charAt(0).toUpperCase() + named.slice(1)
}

/** Labels of options that are names of programs. */
export const labelsOf = (options: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(options.map((option) => [option, inWords(option)]))

/** A setting without the value that the connector needs. */
export const noValue = (key: string): ConnectorError =>
  new ConnectorError('invalid_setting', `“${inWords(key)}” has no value. Enter it in the settings.`)
