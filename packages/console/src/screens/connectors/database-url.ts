import type { FormField, FormValues } from '../../components/fields/form-field.ts'

const schemes = /^\s*(?:postgres|postgresql|mysql|mariadb|redshift):\/\//i

/** TLS modes of URLs, in lower case without dashes, as the setting has them. */
const tlsModes: Readonly<Record<string, string>> = {
  disable: 'disable',
  disabled: 'disable',
  allow: 'require',
  prefer: 'require',
  preferred: 'require',
  require: 'require',
  required: 'require',
  verifyca: 'verify-full',
  verifyfull: 'verify-full',
  verifyidentity: 'verify-full',
}

/** Whether the fields are those of a database, so that its URL fills them. */
export const takesUrl = (fields: readonly FormField[]): boolean =>
  ['host', 'database', 'user', 'password'].every((name) => fields.some((field) => field.name === name))

/**
 * The values of a form in the URL of a database, such as `postgres://user:password@host:5432/database?sslmode=require`.
 * @returns undefined if the text is no such URL; only values that the URL has
 */
export function valuesOfUrl(text: string): FormValues | undefined {
  if (!schemes.test(text)) return undefined
  let url: URL
  try {
    url = new URL(text.trim())
    const mode = url.searchParams.get('sslmode') ?? url.searchParams.get('ssl-mode') ?? ''
    const found = {
      host: decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1'),
      port: url.port,
      database: decodeURIComponent(url.pathname.slice(1)),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      tlsMode: tlsModes[mode.toLowerCase().replaceAll(/[-_]/g, '')] ?? '',
    }
    return found.host === '' ? undefined : Object.fromEntries(Object.entries(found).filter(([, value]) => value !== ''))
  } catch {
    return undefined
  }
}
