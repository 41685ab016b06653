import { createHash } from 'node:crypto'
import { ConnectorError, type Json, type Values } from '@penstock/connector'

/** The key that a server must show, and the key that it showed. */
export type HostKey = {
  /** Judges a key that the server shows. Returns the error if it is not accepted. */
  judge(key: Uint8Array): ConnectorError | undefined
  /** The server has proven that the key is its own: a first key counts from now on. */
  confirm(): void
  /** The fingerprint of the key that was proven, as `ssh-keygen -lf` prints it. */
  readonly seen: string | undefined
  /** The state that the connection stores for it, if the connection trusts the first key. */
  readonly state: KnownKey | undefined
}

type KnownKey = { readonly hostname: string; readonly port: number; readonly fingerprint: string }

const bare = (fingerprint: string): string => fingerprint.replace(/^SHA256:/i, '').replace(/=+$/, '')

/** The field with the host key. */
type KeyField = {
  /** The field of the configuration that names fingerprints. */
  readonly field: string
  /** The name of the server in messages. By default its host name. */
  readonly name?: string
  /** How a server is accepted whose key is not known yet. */
  readonly advice: string
}

const ofSftp: KeyField = {
  field: 'hostKeyFingerprint',
  advice:
    'set it as host key fingerprint, or set the host key check to first-use, which accepts the first key and later no other',
}

/**
 * The key of the server that the secrets name: one of the fingerprints in the settings. If the first key is trusted instead,
 * the stored key, or any key while none is stored. Without either choice no key is accepted.
 * @param stored an earlier `state`, of this server or of another one
 */
export function hostKeyOf(secrets: Values, stored?: Json, keyField: KeyField = ofSftp): HostKey {
  const hostname = String(secrets.hostname)
  const { name = hostname } = keyField
  const port = Number(secrets.port ?? 22)
  const set = typeof secrets.hostKeyFingerprint === 'string' ? secrets.hostKeyFingerprint.split(/[\s,]+/) : []
  const pinned = set.filter((each) => each !== '').map(bare)
  const firstUse = secrets.hostKeyCheck === 'first-use'
  let known = fingerprintIn(stored, hostname, port)
  let shownLast: string | undefined
  let seen: string | undefined
  return {
    get seen() {
      return seen
    },
    get state() {
      return firstUse && seen !== undefined ? { hostname, port, fingerprint: seen } : undefined
    },
    judge(key) {
      const shown = bare(createHash('sha256').update(key).digest('base64'))
      const fingerprint = `SHA256:${shown}`
      if (pinned.length > 0) {
        if (!pinned.includes(shown))
          return strange(name, fingerprint, `SHA256:${pinned.join(' or SHA256:')}, which is set`)
      } else if (!firstUse) {
        return unconfirmed(name, fingerprint, keyField)
      } else if (known !== undefined && known !== shown) {
        return strange(hostname, fingerprint, `SHA256:${known}, which it showed before`)
      }
      shownLast = shown
      return undefined
    },
    confirm() {
      known = shownLast
      seen = `SHA256:${shownLast}`
    },
  }
}

function fingerprintIn(stored: Json | undefined, hostname: string, port: number): string | undefined {
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) return undefined
  const state = stored as Partial<KnownKey>
  const same = state.hostname === hostname && state.port === port
  return same && typeof state.fingerprint === 'string' ? bare(state.fingerprint) : undefined
}

const strange = (host: string, shown: string, expected: string): ConnectorError =>
  new ConnectorError(
    'host_key_not_trusted',
    `${host} shows the host key ${shown}, which is another host key than ${expected}. The connection may be intercepted: ask the operator of the server whether the key has changed, and if so, set its fingerprint.`,
  )

const unconfirmed = (host: string, shown: string, { field, advice }: KeyField): ConnectorError =>
  new ConnectorError(
    'host_key_not_trusted',
    `${host} shows the host key ${shown}, and no fingerprint is set. Ask the operator of the server whether the key is correct, and ${advice}.`,
    { suggestion: { field, value: shown } },
  )
