import { type ConnectorContext, ConnectorError, text } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'

/** The setting that names the country of events that name none. */
export const country = text({
  label: 'Country',
  description: 'Country of events that do not have one, as a two-letter ISO 3166 code: US',
})

/** The country of events that name none. Throws `invalid_setting` where it is not a country. */
export function countryOf({ settings }: Pick<ConnectorContext, 'settings'>): string | undefined {
  const code = textIn(settings.country)?.trim()
  if (code === undefined || /^[A-Za-z]{2}$/.test(code)) return code
  throw new ConnectorError('invalid_setting', 'The country must be two letters of ISO 3166: US.')
}
