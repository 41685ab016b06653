import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext, getCACertificates } from 'node:tls'
import type { ClientConfig } from 'pg'
import { splitAddress } from './addresses.ts'

/**
 * TLS to PostgreSQL, by the parameters of its address. They mean what they mean to libpq, which the driver's own reading of
 * them does not: it verifies the server for `require`, and has modes that libpq does not have. Modes that would fall back to a
 * connection without TLS are refused.
 */

const modes = ['disable', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof modes)[number]

/** Parameters that are read here, and never by the driver. */
const read = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'sslnegotiation'] as const
type Parameters = { readonly [name in (typeof read)[number]]?: string }

const isTlsParameter = (name: string): boolean => /^(?:ssl|gssenc|requiressl|uselibpqcompat)/.test(name)
const systemAuthorities = 'system'

/** An address for the driver: the text without parameters of TLS, and the settings of TLS. */
export type Connection = Pick<ClientConfig, 'connectionString' | 'ssl'>

/** @throws if a file that the address names cannot be read, and never could */
export function connectionTo(address: string): Connection {
  const { plain, tls } = splitParameters(address)
  const direct = tls.sslnegotiation === 'direct' ? { sslnegotiation: 'direct' } : {}
  return { connectionString: plain, ssl: isSocket(address) ? false : optionsOf(tls), ...direct }
}

/**
 * The problem of the TLS parameters of an address, as a sentence that begins with the name of one. Undefined if they can be
 * used. Reads the files that they name.
 */
export function problemOfTls(address: string): string | undefined {
  const { tls, others } = splitParameters(splitAddress(address)[0])
  const problem = problemOfParameters(tls, others)
  if (problem !== undefined) return problem
  try {
    const options = optionsOf(tls)
    if (options === false) return undefined
    createSecureContext(options)
    // Node ignores authorities that it cannot read.
    if (typeof options.ca === 'string') new X509Certificate(options.ca)
    return undefined
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    if (path !== undefined) {
      const name = read.find((parameter) => tls[parameter] === path)
      return `${name} names the file ${path}, which cannot be read (${code}). Check the path, and that this user may read it.`
    }
    return `sslrootcert, sslcert and sslkey must name PEM files, with a key that belongs to the certificate (${code ?? 'not PEM'}).`
  }
}

function problemOfParameters(tls: Parameters, others: readonly string[]): string | undefined {
  const { sslmode: mode, sslrootcert: authorities } = tls
  if (mode === 'prefer' || mode === 'allow') {
    return `sslmode=${mode} is refused, because it falls back to a connection without TLS without a warning. Use verify-full, or require or disable.`
  }
  if (mode === 'no-verify') {
    return 'sslmode=no-verify is not a mode of PostgreSQL. Use verify-full with sslrootcert. require encrypts as well, and does not verify the server.'
  }
  if (mode !== undefined && !isMode(mode)) return `sslmode must be one of ${modes.join(', ')}.`
  const [other] = others
  if (other !== undefined) return `${other} is not supported. Use sslmode=verify-full, with sslrootcert.`
  if (mode === undefined) {
    const [given] = read.filter((name) => tls[name] !== undefined)
    return given && `${given} needs sslmode=verify-full: without sslmode, the connection is not encrypted.`
  }
  if (mode === 'disable') return undefined
  if (mode === 'verify-ca' && authorities === undefined) {
    return 'sslmode=verify-ca needs sslrootcert, the file with the certificate of the authority. verify-full works without it, with public authorities.'
  }
  if (authorities === systemAuthorities && mode !== 'verify-full') {
    return 'sslrootcert=system needs sslmode=verify-full, because anyone can get a certificate of a public authority.'
  }
  if ((tls.sslcert === undefined) !== (tls.sslkey === undefined)) {
    return 'sslcert and sslkey must be set together, or neither: the certificate of this client and its key.'
  }
  if (tls.sslnegotiation !== undefined && !['postgres', 'direct'].includes(tls.sslnegotiation)) {
    return 'sslnegotiation must be postgres or direct.'
  }
  return undefined
}

const isMode = (text: string): text is Mode => (modes as readonly string[]).includes(text)

function optionsOf(tls: Parameters): ConnectionOptions | false {
  const { sslmode: mode, sslrootcert: authorities } = tls
  if (mode === undefined || mode === 'disable') return false
  // As libpq does it: with an authority, `require` is verify-ca.
  const verifies = mode !== 'require' || authorities !== undefined
  return {
    rejectUnauthorized: verifies,
    ...(authorities === undefined ? {} : { ca: authoritiesOf(authorities) }),
    ...(tls.sslcert ? { cert: readKept(tls.sslcert) } : {}),
    ...(tls.sslkey ? { key: readKept(tls.sslkey) } : {}),
    ...(tls.sslpassword ? { passphrase: tls.sslpassword } : {}),
    // The driver compares the certificate with the host unless this says otherwise.
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  }
}

const authoritiesOf = (authorities: string): string | string[] =>
  authorities === systemAuthorities ? getCACertificates('system') : readKept(authorities)

const kept = new Map<string, string>()

/**
 * The present content of a file, so that a renewed certificate needs no restart. While the file is being replaced, its previous
 * content.
 */
function readKept(file: string): string {
  try {
    kept.set(file, readFileSync(file, 'utf8'))
  } catch (error) {
    if (!kept.has(file)) throw error
  }
  return kept.get(file) ?? ''
}

/** Separates the TLS parameters of an address from the rest. The rest of the text stays as it is. */
function splitParameters(address: string): { plain: string; tls: Parameters; others: string[] } {
  const [start = '', query] = address.split(/\?(.*)/s)
  const tls: Record<string, string> = {}
  const others: string[] = []
  const stays = (query ?? '').split('&').filter((parameter) => {
    const [[name = '', value = ''] = []] = new URLSearchParams(parameter)
    if (!isTlsParameter(name)) return parameter !== ''
    if ((read as readonly string[]).includes(name)) tls[name] = value
    else others.push(name)
    return false
  })
  return { plain: stays.length > 0 ? `${start}?${stays.join('&')}` : start, tls: tls as Parameters, others }
}

/** The mode and the authorities of an address, for messages. */
export function describeTls(address: string): { mode: string | undefined; authorities: string | undefined } {
  const { sslmode, sslrootcert } = splitParameters(address).tls
  return { mode: sslmode, authorities: sslrootcert }
}

/** Whether an address leads to a socket in a directory, where libpq uses no TLS. */
const isSocket = (address: string): boolean =>
  /[?&]host=(?:\/|%2f)/i.test(address) || /^[a-z]+:\/\/(?:[^/?#]*@)?%2f/i.test(address)
