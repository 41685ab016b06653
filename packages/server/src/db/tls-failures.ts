import { certificateProblem } from '@penstock/connector/egress/certificates'
import { describeTls } from './tls.ts'

/** Messages for the operator: why TLS to PostgreSQL failed, and the cure that keeps it secure. */

type Server = { readonly server: string; readonly host: string; readonly user: string | undefined }

/** Alerts of a server that refuses the certificate of this client, or lacks one. */
const clientCertificateAlert =
  /ALERT_(?:CERTIFICATE_REQUIRED|UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_(?:EXPIRED|REVOKED|UNKNOWN))/

/** One or two sentences. Undefined if the failure is not about TLS. */
export function explainTls(error: Error, { server, host }: Server, address: string): string | undefined {
  const { mode, authorities } = describeTls(address)
  const problem = certificateProblem(error)
  if (problem) {
    const cure = {
      name: `Use a name of the certificate as the host in DATABASE_URL, or issue a certificate that includes ${host}.`,
      authority: authorities
        ? `Save the certificate of the authority that issued it in ${authorities}, which sslrootcert names.`
        : 'Add sslrootcert=/path/to/ca.pem to DATABASE_URL, the file with the certificate of that authority.',
      expired: 'Renew it on the server, and check the clock of this machine.',
      'not yet valid': 'Check the clocks of the server and of this machine.',
      other: 'Replace it on the server.',
    }[problem.kind]
    return `The TLS certificate of ${server} ${problem.message}. ${cure}`
  }
  if (/does not support SSL/.test(error.message)) {
    return `${server} does not offer TLS, and DATABASE_URL has sslmode=${mode}. Turn ssl on there: ssl = on, ssl_cert_file and ssl_key_file in postgresql.conf.`
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (clientCertificateAlert.test(code)) return needsClientCertificate(server)
  if (/^(?:ERR_SSL|EPROTO)/.test(code)) {
    return `${server} and this machine could not agree on TLS (${code}). Check that PostgreSQL listens there, and that it allows TLS 1.2 or newer (ssl_min_protocol_version).`
  }
  return undefined
}

export const needsClientCertificate = (server: string): string =>
  `${server} does not let this client in without a certificate that it trusts. Add sslcert and sslkey to DATABASE_URL, the files with a client certificate of its authority (ssl_ca_file) and its key.`
