/** Why the certificate of a server was not accepted. */
export type CertificateProblem = {
  readonly kind: 'name' | 'authority' | 'expired' | 'not yet valid' | 'other'
  /** Completes a sentence that begins with “The TLS certificate of <host>”. */
  readonly message: string
}

const kinds: Readonly<Record<string, Exclude<CertificateProblem['kind'], 'name' | 'other'>>> = {
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not yet valid',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'authority',
  UNABLE_TO_GET_ISSUER_CERT: 'authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'authority',
  CERT_UNTRUSTED: 'authority',
}

const isCertificateCode = (code: string): boolean =>
  !code.startsWith('ERR_SSL') &&
  /CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^INVALID_CA$|^INVALID_PURPOSE$|^PATH_LENGTH_EXCEEDED$|^CRL_/.test(code)

/** Maximum names of a certificate in a message. */
const namesMax = 5

/** Reads the error of a failed handshake; undefined if it is not about a certificate. */
export function certificateProblem(error: unknown): CertificateProblem | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  const { code } = error
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH') {
    const names = namesOf('cert' in error ? error.cert : undefined)
    const message =
      names.length === 0
        ? `is for another host (${code})`
        : `is for ${names.slice(0, namesMax).join(', ')}${names.length > namesMax ? ' and others' : ''}, not for this host (${code})`
    return { kind: 'name', message }
  }
  if (!isCertificateCode(code)) return undefined
  const kind = kinds[code] ?? 'other'
  return {
    kind,
    message: {
      expired: `has expired (${code})`,
      'not yet valid': `is not valid yet (${code})`,
      authority: `was issued by an authority that is not trusted (${code})`,
      other: `is not trusted (${code})`,
    }[kind],
  }
}

/** The names and addresses of a certificate. */
function namesOf(certificate: unknown): string[] {
  const { subjectaltname, subject } = (certificate ?? {}) as { subjectaltname?: unknown; subject?: { CN?: unknown } }
  const names = typeof subjectaltname === 'string' ? subjectaltname.split(', ') : [`DNS:${subject?.CN ?? ''}`]
  // A certificate comes from the server, and could be of any length.
  return names.flatMap((name) => /^(?:DNS|IP Address):([\w.*:-]{1,253})$/.exec(name)?.[1] ?? [])
}
