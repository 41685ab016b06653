import { type ConnectorContext, ConnectorError, type Values } from '@penstock/connector'

/**
 * How requests to a container are allowed: by a key that signs each, by a signature that was made beforehand, or by tokens of an
 * application.
 */
export type Access =
  | { readonly kind: 'key'; readonly account: string; readonly key: Uint8Array }
  | { readonly kind: 'signature'; readonly query: string }
  | { readonly kind: 'application' /** The host that issues its tokens. */; readonly login: string }

/** The location of blobs. */
export type Container = {
  /** Address of the storage account, without a slash at its end. */
  readonly service: string
  /** Empty if no container is named: with a signature for a whole account, before a connection names one. */
  readonly name: string
  readonly access: Access
}

/** A container, and the name of a blob or of a folder in it. */
export type Located = { readonly container: Container; readonly path: string }

/** Reads the credentials. Throws `invalid_credentials` if they cannot be valid. */
export function containerOf({ secrets }: Pick<ConnectorContext, 'secrets'>): Container {
  if (secrets.authType === 'workload-identity') return containerOfApplication(secrets)
  return secrets.authType === 'account-key' ? containerByKey(secrets) : containerBySignature(secrets)
}

/**
 * Resolves an address or a name. An address must belong to the storage account and the container of the credentials, because a
 * signature must not be sent anywhere else. A name is relative to the default path, else to the container. Without a container,
 * its first part is the container.
 */
export function locate(context: ConnectorContext, given: unknown, label: string): Located {
  const container = containerOf(context)
  const text = String(given ?? '').trim()
  const fallback = context.secrets.defaultPath
  if (/^https?:\/\//i.test(text)) return within(container, text, label)
  if (typeof fallback === 'string' && fallback.trim() !== '') {
    const base = /^https?:\/\//i.test(fallback.trim())
      ? within(container, fallback.trim(), 'The default path')
      : byName(container, fallback.trim(), label)
    const folder = base.path === '' || base.path.endsWith('/') ? base.path : `${base.path}/`
    return { container: base.container, path: folder + text.replace(/^\/+/, '') }
  }
  return byName(container, text, label)
}

function byName(container: Container, text: string, label: string): Located {
  const name = text.replace(/^\/+/, '')
  if (container.name !== '') return { container, path: name }
  const [first = '', ...rest] = name.split('/')
  return { container: { ...container, name: containerNamed(first, label) }, path: rest.join('/') }
}

function within(container: Container, address: string, label: string): Located {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url) throw invalidPath(`${label} is not an address.`)
  if (url.search) {
    throw invalidPath(
      `${label} contains a signature or other parameters. Remove them; a signature belongs in the SAS URL.`,
    )
  }
  const service = new URL(container.service)
  const above = service.pathname.replace(/\/+$/, '')
  const inAccount = url.origin === service.origin && `${url.pathname}/`.startsWith(`${above}/`)
  const [first = '', ...rest] = decoded(url.pathname.slice(above.length)).replace(/^\//, '').split('/')
  if (!inAccount || (container.name !== '' && first !== container.name)) {
    throw invalidPath(
      `${label} must be in the storage account${container.name === '' ? '' : ' and container'} that the credentials are for.`,
    )
  }
  return { container: { ...container, name: containerNamed(first, label) }, path: rest.join('/') }
}

function containerByKey({ accountName, accessKey }: Values): Container {
  const given = String(accountName ?? '').trim()
  // The emulator and separate clouds have an address instead of a name.
  const url = /^https?:\/\//i.test(given) && URL.canParse(given) ? new URL(given) : undefined
  const account = url ? ((url.pathname.split('/')[1] || url.hostname.split('.')[0]) ?? '') : given.toLowerCase()
  if (!/^[a-z0-9]{3,24}$/.test(account)) {
    throw new ConnectorError('invalid_credentials', 'The account name must be 3 to 24 letters and digits.')
  }
  const key = Buffer.from(String(accessKey ?? '').trim(), 'base64')
  if (key.length < 16) {
    const message = 'The access key is not one of a storage account; copy key1 or key2 from its access keys in full.'
    throw new ConnectorError('invalid_credentials', message)
  }
  const service = url ? `${url.origin}${url.pathname.replace(/\/+$/, '')}` : `https://${account}.blob.core.windows.net`
  return { service, name: '', access: { kind: 'key', account, key } }
}

/** The hosts that issue tokens, by the endings of the clouds of Azure. */
const logins: Readonly<Record<string, string>> = {
  'core.windows.net': 'login.microsoftonline.com',
  'core.chinacloudapi.cn': 'login.partner.microsoftonline.cn',
  'core.usgovcloudapi.net': 'login.microsoftonline.us',
}

/** Tokens of an application are valid for all of its accounts, so they go only to storage accounts of Azure itself. */
function containerOfApplication({ accountName }: Values): Container {
  const given = String(accountName ?? '')
    .trim()
    .toLowerCase()
  const [, named = given, cloud = 'core.windows.net'] = /^https:\/\/([a-z0-9]+)\.blob\.([a-z.]+)\/?$/.exec(given) ?? []
  const login = Object.hasOwn(logins, cloud) ? logins[cloud] : undefined
  if (!/^[a-z0-9]{3,24}$/.test(named) || login === undefined) {
    const message =
      'The account name must be 3 to 24 letters and digits, or an address such as https://account.blob.core.windows.net.'
    throw new ConnectorError('invalid_address', message)
  }
  return { service: `https://${named}.blob.${cloud}`, name: '', access: { kind: 'application', login } }
}

function containerBySignature({ sasUrl }: Values): Container {
  const given = String(sasUrl ?? '').trim()
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || !url.searchParams.has('sig')) {
    const message = 'The SAS URL must be the address of a container with a signature: https://…/container?sv=…&sig=….'
    throw new ConnectorError('invalid_credentials', message)
  }
  const ends = Date.parse(url.searchParams.get('se') ?? '')
  if (ends < Date.now()) {
    const message = `The SAS URL has been invalid since ${new Date(ends).toISOString()}. Make a new one.`
    throw new ConnectorError('expired_credentials', message)
  }
  const segments = decoded(url.pathname).split('/').slice(1)
  // If the host is an IP address or a bare name, as for the emulator, the account is the first part of the path.
  const above = /^[\d.]+$|^\[|^[^.]+$/.test(url.hostname) ? `/${segments.shift() ?? ''}` : ''
  return {
    service: `${url.origin}${above}`,
    name: segments[0] ?? '',
    access: { kind: 'signature', query: url.search.slice(1) },
  }
}

function containerNamed(name: string, label: string): string {
  if (/^(\$root|\$web|[a-z0-9](?:-?[a-z0-9]){2,62})$/.test(name)) return name
  throw invalidPath(
    `${label} has no container. It should look like https://account.blob.core.windows.net/container/folder/.`,
  )
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const invalidPath = (message: string): ConnectorError => new ConnectorError('invalid_address', message)
