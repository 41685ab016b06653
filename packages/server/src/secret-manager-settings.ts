import { readFileSync } from 'node:fs'
import type { ManagerAccess } from '@penstock/connectors/secret-managers'
import { isSecretPath } from '@penstock/wire'
import type { Given } from './config-values.ts'

/** The secret managers that an operator configures, and which sub-accounts may read which paths there. */

/** Paths that begin with a text, for those who may use them. */
export type AllowedPaths = {
  /** The beginning of a path; `{organizationId}` and `{accountId}` are replaced. */
  readonly prefix: string
  /** Only for the sub-accounts of this organization. */
  readonly organizationId: string | undefined
  /** Only for this sub-account. */
  readonly accountId: string | undefined
}

export type SecretManagerSettings = {
  /** The name in references. */
  readonly name: string
  readonly access: ManagerAccess
  readonly allow: readonly AllowedPaths[]
}

const setting = 'PENSTOCK_SECRET_MANAGERS'

/** Reads the file that the setting names. Adds what is wrong to the errors. */
export function readSecretManagers(given: Given, fieldErrors: string[]): readonly SecretManagerSettings[] {
  const file = given(setting)
  if (file === undefined) return []
  const wrong = (message: string): undefined => void fieldErrors.push(`${setting}: ${message}`)
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    wrong(code === undefined ? `${file} is not valid JSON.` : `${file} cannot be read (${code}).`)
    return []
  }
  const root = new Part('', parsed, wrong)
  const managers = root.part('managers')
  root.end()
  return managers.keys.flatMap((name) => {
    if (!/^[a-z][a-z0-9-]{0,29}$/.test(name)) {
      wrong(`"${name}" is not the name of a secret manager: 1 to 30 lowercase letters, digits and -, from a letter on.`)
    }
    const manager = managers.part(name)
    const access = readAccess(manager)
    const allow = manager.list('allow').map((one) => readAllowed(one, access?.type))
    manager.end()
    return access && allow.every((one) => one !== undefined) ? [{ name, access, allow }] : []
  })
}

const uuid = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/
const roleArn = /^arn:[\w-]+:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/

function readAccess(manager: Part): ManagerAccess | undefined {
  const type = manager.choice('type', ['vault', 'aws', 'google', 'azure'])
  const auth = manager.part('auth')
  const read = type && accesses[type](manager, auth)
  auth.end()
  return read
}

const accesses: Readonly<Record<ManagerAccess['type'], (manager: Part, auth: Part) => ManagerAccess | undefined>> = {
  vault(manager, auth) {
    const address = manager.text('address', isAddress, 'an address that begins with https://, or http:// on loopback')
    const mount = manager.text('mount', isSecretPath, 'the path of a key/value engine, such as secret', 'secret')
    const namespace = manager.text('namespace', isSecretPath, 'the path of a namespace', null)
    const method = auth.choice('method', ['token', 'approle', 'kubernetes'])
    const at = method === 'token' ? '' : auth.text('mount', isSecretPath, 'the path of an auth method', method)
    const signIns = {
      token: () => ({ method: 'token' as const, tokenFile: auth.file('tokenFile') }),
      approle: () => ({
        method: 'approle' as const,
        mount: at ?? '',
        roleId: auth.text('roleId', isWord, 'a text without spaces') ?? '',
        secretIdFile: auth.file('secretIdFile'),
      }),
      kubernetes: () => ({
        method: 'kubernetes' as const,
        mount: at ?? '',
        role: auth.text('role', isWord, 'a text without spaces') ?? '',
        tokenFile: auth.file('tokenFile', '/var/run/secrets/kubernetes.io/serviceaccount/token'),
      }),
    }
    if (address === undefined || method === undefined) return undefined
    const named = { address: address.replace(/\/+$/, ''), mount: mount ?? '', namespace: namespace ?? undefined }
    return { type: 'vault', ...named, auth: signIns[method]() }
  },
  aws(manager, auth) {
    const region = manager.text('region', /^[a-z]{2}(?:-[a-z]+)+-\d$/, 'a region, such as eu-central-1')
    const method = auth.choice('method', ['access-key', 'web-identity'])
    if (region === undefined || method === undefined) return undefined
    if (method === 'access-key') {
      const accessKeyId = auth.text('accessKeyId', /^\w{16,128}$/, 'the ID of an access key') ?? ''
      return {
        type: 'aws',
        region,
        auth: { method, accessKeyId, secretAccessKeyFile: auth.file('secretAccessKeyFile') },
      }
    }
    const role = auth.text('roleArn', roleArn, 'the ARN of a role') ?? ''
    return { type: 'aws', region, auth: { method, roleArn: role, tokenFile: auth.file('tokenFile') } }
  },
  google(_, auth) {
    const method = auth.choice('method', ['service-account'])
    return method && { type: 'google', auth: { method, keyFile: auth.file('keyFile') } }
  },
  azure(manager, auth) {
    const tenantId = manager.text('tenantId', uuid, 'the ID of a tenant')
    const clientId = manager.text('clientId', uuid, 'the ID of an application')
    const method = auth.choice('method', ['client-secret', 'federated'])
    if (tenantId === undefined || clientId === undefined || method === undefined) return undefined
    const signIn =
      method === 'client-secret'
        ? { method, clientSecretFile: auth.file('clientSecretFile') }
        : { method, tokenFile: auth.file('tokenFile') }
    return { type: 'azure', tenantId, clientId, auth: signIn }
  },
}

const isWord = /^[\x21-\x7e]{1,500}$/
const identifier = /^[0-9a-f]{16}$/

function isAddress(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.username || url.password || url.search || url.hash || url.pathname !== '/') return false
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)
}

/** The beginnings that a prefix must have: names of other vaults or projects must not begin with it. */
const whole: Partial<Record<ManagerAccess['type'], readonly [RegExp, string]>> = {
  google: [/^projects\/[^/]+\/secrets\/[^/]+$/, 'projects/PROJECT/secrets/ and the beginning of a name'],
  azure: [/^[^/]+\/[^/]*$/, 'the name of a vault, a slash, and the beginning of a name'],
}

function readAllowed(entry: Part, type: ManagerAccess['type'] | undefined): AllowedPaths | undefined {
  const prefix = entry.text('prefix', isPrefix, prefixForm)
  const organizationId = entry.text('organizationId', identifier, 'the identifier of an organization', null)
  const accountId = entry.text('accountId', identifier, 'the identifier of a sub-account', null)
  entry.end()
  if (prefix === undefined) return undefined
  const [form, expected] = (type && whole[type]) ?? []
  if (form && !form.test(prefix)) return entry.wrong('prefix', `must be ${expected}`)
  if (!organizationId && !accountId && !prefix.includes('{')) {
    return entry.wrong(
      'prefix',
      'would be open to every tenant: write {accountId} or {organizationId} in it, or name an organizationId or accountId',
    )
  }
  return { prefix, organizationId: organizationId ?? undefined, accountId: accountId ?? undefined }
}

const prefixForm =
  'the beginning of a path that ends with one of / - _ : and contains only letters, digits, the characters _ = @ + : . - /, and {organizationId} or {accountId}, each followed by one of / - _ :'

/** A prefix ends where a name ends, so that `team/` does not allow `team-of-others/`. */
function isPrefix(prefix: string): boolean {
  const filled = prefix.replace(/\{(?:organizationId|accountId)\}(?=[/_:-])/g, '0123456789abcdef')
  return /[/_:-]$/.test(filled) && isSecretPath(`${filled}x`)
}

type Form = RegExp | ((text: string) => boolean)

/** A part of the file. Every key is read once; others are refused. */
class Part {
  readonly #at: string
  readonly #values: Readonly<Record<string, unknown>>
  readonly #report: (message: string) => undefined
  readonly #read = new Set<string>()

  constructor(at: string, value: unknown, report: (message: string) => undefined) {
    this.#at = at
    this.#report = report
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (!isObject) report(`${at || 'the file'} must be an object.`)
    this.#values = isObject ? (value as Record<string, unknown>) : {}
  }

  get keys(): string[] {
    return Object.keys(this.#values)
  }

  part(key: string): Part {
    return new Part(this.#place(key), this.#own(key), this.#report)
  }

  list(key: string): Part[] {
    const value = this.#own(key)
    if (value === undefined) return []
    if (!Array.isArray(value)) return [this.wrong(key, 'must be a list')].filter((one) => one !== undefined)
    return value.map((one, index) => new Part(`${this.#place(key)}[${index}]`, one, this.#report))
  }

  /** @param fallback is used if the key is omitted; null: it can be omitted */
  text(key: string, form: Form, expected: string, fallback?: string | null): string | undefined {
    const value = this.#own(key)
    if (value === undefined && fallback !== undefined) return fallback ?? undefined
    const isRight = typeof value === 'string' && (form instanceof RegExp ? form.test(value) : form(value))
    return isRight ? value : this.wrong(key, `must be ${expected}`)
  }

  choice<T extends string>(key: string, choices: readonly T[]): T | undefined {
    const value = this.#own(key)
    return choices.find((one) => one === value) ?? this.wrong(key, `must be ${choices.join(', ')}`)
  }

  /** The absolute path of a file. It is read when it is needed, since it can be replaced. */
  file(key: string, fallback?: string): string {
    return this.text(key, /^\//, 'the absolute path of a file', fallback) ?? ''
  }

  wrong(key: string, message: string): undefined {
    return this.#report(`${this.#place(key)} ${message}.`)
  }

  /** Refuses the keys that were not read. */
  end(): void {
    for (const key of this.keys) if (!this.#read.has(key)) this.wrong(key, 'is not a known key')
  }

  #place(key: string): string {
    return this.#at === '' ? key : `${this.#at}.${key}`
  }

  #own(key: string): unknown {
    this.#read.add(key)
    return Object.hasOwn(this.#values, key) ? this.#values[key] : undefined
  }
}
