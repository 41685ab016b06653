import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Files of an authority or of a certificate. */
export type CertificateFiles = { readonly certificate: string; readonly key: string }

/** An authority for a test, made by openssl, whose files are in `folder`. */
export async function createAuthority(folder: string, name: string) {
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder })
  const files = (of: string): CertificateFiles => ({
    certificate: join(folder, `${of}.pem`),
    key: join(folder, `${of}.key`),
  })
  const authority = files(name)
  await openssl(
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'],
    ...['-subj', `/CN=${name}`, '-keyout', authority.key, '-out', authority.certificate],
  )
  return {
    authority,
    /**
     * Issues a certificate.
     * @param names its alternative names, such as `DNS:localhost`; undefined for a client certificate
     * @param days how long it is valid; a negative number creates an expired certificate
     */
    async issue(of: string, names: string | undefined, days = 30): Promise<CertificateFiles> {
      const issued = files(of)
      const request = join(folder, `${of}.csr`)
      await openssl(
        ...['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${of}`],
        ...['-keyout', issued.key, '-out', request],
      )
      const extensions = join(folder, `${of}.ext`)
      await writeFile(extensions, names ? `subjectAltName=${names}\n` : 'keyUsage=digitalSignature\n')
      await openssl(
        ...['x509', '-req', '-in', request, '-CA', authority.certificate, '-CAkey', authority.key, '-CAcreateserial'],
        ...['-days', String(days), '-extfile', extensions, '-out', issued.certificate],
      )
      return issued
    },
  }
}
