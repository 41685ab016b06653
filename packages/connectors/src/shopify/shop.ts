import { ConnectorError } from '@penstock/connector'

const shopForm = /^([a-z0-9][a-z0-9-]{0,99})(?:\.myshopify\.com)?$/

/**
 * The host of a shop, such as `acme.myshopify.com`. `undefined` if the text does not name a shop. Tokens and secrets are sent
 * only to such a host.
 * @param text the name, the host, or its URL without a path
 */
export function shopHost(text: string): string | undefined {
  const host = text
    .trim()
    .toLowerCase()
    .replace(/^https:\/\//, '')
    .replace(/\/$/, '')
  const [, name] = shopForm.exec(host) ?? []
  return name === undefined ? undefined : `${name}.myshopify.com`
}

/** The same for the setting. Throws `invalid_setting` if it is missing or is no shop. */
export function requireShop(text: string): string {
  const host = shopHost(text)
  if (host !== undefined) return host
  const message =
    'Set “Shop” to the myshopify.com name of your shop, such as acme.myshopify.com. Shopify shows it under Settings, Domains; your own domain is another host.'
  throw new ConnectorError('invalid_setting', message)
}
