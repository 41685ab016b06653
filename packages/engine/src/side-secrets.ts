import {
  asConnectorError,
  type Connector,
  createRedact,
  type Egress,
  type EgressRequest,
  type Redact,
  redactedText,
  secretsOf,
  type Values,
} from '@penstock/connector'
import type { Role } from '@penstock/wire/rules'

/**
 * Keeps the secrets of one side of a connection out of everything that its connector reports (invariant 6): errors,
 * steps of a check, reasons of rejections. A platform can echo request data in any of them. Secrets are the saved ones,
 * their replacements, and the credentials of requests, such as a token that a platform issued for this transfer.
 */
export type SideSecrets = {
  /** Removes the secrets from a text, and cuts it if it is too long. */
  readonly redact: (text: string) => string
  /** The egress, which notes the credentials of requests. */
  watch(egress: Egress): Egress
  /** From now on this is a secret, too. */
  note(secret: string): void
}

/** Shorter secrets occur as words in our messages. Connectors remove them from texts of other systems. */
const lengthMin = 6

/**
 * Maximum number of noted secrets: credentials of requests, and secrets that replaced saved ones. Older ones were replaced, or
 * are signatures of single requests.
 */
const notedMax = 8
const secretHeader = /auth|token|key|secret|cookie|signature/i

export function secretsOfSide(connector: Connector, secrets: Values): SideSecrets {
  const saved = secretsOf(connector.secrets, secrets).filter(({ length }) => length >= lengthMin)
  const sent = new Set<string>()
  const renewed = new Set<string>()
  let redact: Redact | undefined
  const note = (noted: Set<string>, one: string) => {
    if (noted.has(one)) return
    noted.add(one)
    for (const oldest of noted) if (noted.size > notedMax) noted.delete(oldest)
    redact = undefined
  }
  const noteSent = ({ headers = {} }: EgressRequest) => {
    for (const [name, value] of Object.entries(headers)) {
      const credential = secretHeader.test(name) ? credentialIn(value) : undefined
      if (credential !== undefined) note(sent, credential)
    }
  }
  return {
    redact: (text) => {
      redact ??= createRedact([...saved, ...renewed, ...sent])
      const cleaned = redact(text, messageLengthMax)
      // Redacting also puts a text on one line. A text without secrets does not change.
      return cleaned.includes(redactedText) ? cleaned : text.slice(0, messageLengthMax)
    },
    watch: (egress) => ({
      connect: (host, port, options) => egress.connect(host, port, options),
      request: (url, init = {}) => {
        noteSent(init)
        return egress.request(url, init)
      },
    }),
    note: (secret) => {
      if (secret.length >= lengthMin) note(renewed, secret)
    },
  }
}

/** The token or signature at the end of a header: `Bearer …`, `AWS4-HMAC-SHA256 …, Signature=…`, `SharedKey account:…`. */
const credentialIn = (header: string): string | undefined => /[\w.~+/-]{16,}={0,2}$/.exec(header)?.[0]

/** Longer reports of a connector are cut to this length. */
const messageLengthMax = 2_000

/** Calls a connector. Removes the secrets from a connector error that it throws, and adds the side of the connection. */
export async function withoutSecrets<T>(
  redact: SideSecrets['redact'],
  call: () => T | Promise<T>,
  side?: Role,
): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const connectorError = asConnectorError(error)
    if (!connectorError) throw error
    throw connectorError.with({ message: redact(connectorError.message), side: side ?? connectorError.side })
  }
}
