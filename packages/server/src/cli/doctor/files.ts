import { X509Certificate } from 'node:crypto'
import { constants } from 'node:fs'
import { access, readFile, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { Config } from '../../config.ts'
import { masterKeyFile } from '../runtime.ts'
import { type Finding, problem, warning, well } from './check.ts'

const freeBytesMin = 1024 ** 3
const dayMs = 86_400_000
const certificateDaysMin = 14

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

/** The data directory: that it is there if it is needed, can be written to, and has space. */
export async function checkDisk({ dataDirectory, databaseUrl }: Config): Promise<Finding> {
  const space = await statfs(dataDirectory).catch(codeOf)
  if (space === 'ENOENT' && databaseUrl) return well(`${dataDirectory} is not there, and not needed with DATABASE_URL`)
  if (typeof space !== 'object') return problem(`Nothing can be kept at ${dataDirectory}: check PENSTOCK_DATA_DIR.`)
  if (!(await isWritable(dataDirectory)))
    return problem(`This user cannot write to ${dataDirectory}: change its owner or mode, or check PENSTOCK_DATA_DIR.`)
  const { bavail, bsize } = space
  const free = `${gib(bavail * bsize)} GiB free at ${dataDirectory}`
  return bavail * bsize >= freeBytesMin
    ? well(free)
    : problem(`Only ${free}: free some space, PostgreSQL stops when the disk is full.`)
}

/** The folder for temporary files, in which runners keep files that are too large for memory. */
export async function checkTemporary(): Promise<Finding> {
  const folder = tmpdir()
  const space = await statfs(folder).catch(codeOf)
  if (typeof space !== 'object')
    return problem(`The folder ${folder} for temporary files cannot be used (${space}): create it, or set TMPDIR.`)
  if (!(await isWritable(folder)))
    return problem(
      `This user cannot write to ${folder}, the folder for temporary files: change its mode, or set TMPDIR.`,
    )
  const free = `${gib(space.bavail * space.bsize)} GiB free at ${folder}`
  return space.bavail * space.bsize >= freeBytesMin
    ? well(free)
    : warning(`Only ${free}: free some space, or set TMPDIR.`)
}

/** Why the folder of added connectors cannot be read, if a setting names it. Undefined if it can be read. */
export async function whyNoConnectorsFolder(
  env: NodeJS.ProcessEnv,
  { connectorsFolder }: Config,
): Promise<string | undefined> {
  if (!env.PENSTOCK_CONNECTORS_DIR) return undefined
  const found = await stat(connectorsFolder).catch(codeOf)
  const wrong =
    typeof found !== 'object'
      ? found === 'ENOENT'
        ? 'does not exist'
        : `cannot be read (${found})`
      : found.isDirectory()
        ? undefined
        : 'is not a directory'
  return (
    wrong &&
    `The folder ${connectorsFolder} of PENSTOCK_CONNECTORS_DIR ${wrong}: create or mount it, or remove the setting.`
  )
}

/** Files with certificates that settings name: that they can be read, and have not expired. */
export async function checkCertificates(
  env: NodeJS.ProcessEnv,
  { databaseUrl, poolerUrl, replicaUrl }: Config,
): Promise<Finding> {
  const files = [
    ...Object.keys(env)
      .filter((name) => name === 'NODE_EXTRA_CA_CERTS' || /^OTEL_EXPORTER_OTLP_(?:\w+_)?CERTIFICATE$/.test(name))
      .map((name) => ({ name, file: env[name]?.trim() ?? '' })),
    ...Object.entries({
      DATABASE_URL: poolerUrl ?? databaseUrl,
      PENSTOCK_DATABASE_DIRECT_URL: poolerUrl && databaseUrl,
      PENSTOCK_DATABASE_REPLICA_URL: replicaUrl,
    }).flatMap(([name, url]) =>
      ['sslrootcert', 'sslcert'].map((part) => ({
        name: `${name} (${part})`,
        file: new URLSearchParams(url?.split('?')[1]).get(part) ?? '',
      })),
    ),
  ].filter(({ file }) => file !== '' && file !== 'system')
  if (files.length === 0) return well('no setting names one')
  const found = (await Promise.all(files.map(({ name, file }) => lookAt(name, file)))).flat()
  const problems = found.filter(({ ok }) => !ok)
  if (problems.length > 0) return problem(problems.map(({ message }) => message).join(' '))
  if (found.length > 0) return warning(found.map(({ message }) => message).join(' '))
  return well(`${files.map(({ file }) => file).join(', ')}`)
}

async function lookAt(name: string, file: string): Promise<Finding[]> {
  const text = await readFile(file, 'utf8').catch((error) => ({ code: codeOf(error) }))
  if (typeof text !== 'string')
    return [problem(`The file ${file} of ${name} cannot be read (${text.code}): check its path and mode.`)]
  const parts = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  if (parts.length === 0) return [problem(`The file ${file} of ${name} contains no certificate in PEM.`)]
  const expiries = parts.map(expiryOf).filter((one) => one !== undefined)
  // A bundle of authorities usually contains some expired certificates. In a chain, the first certificate belongs to this
  // process.
  const expires = name.endsWith('(sslcert)') ? expiries[0] : expiries.sort((a, b) => b.getTime() - a.getTime())[0]
  if (!expires) return [problem(`The certificate in ${file} of ${name} cannot be read: replace it.`)]
  const days = Math.floor((expires.getTime() - Date.now()) / dayMs)
  const day = expires.toISOString().slice(0, 10)
  if (days < 0) return [problem(`The certificate in ${file} of ${name} expired on ${day}: replace it.`)]
  return days < certificateDaysMin ? [well(`The certificate in ${file} of ${name} expires on ${day}: replace it.`)] : []
}

function expiryOf(pem: string): Date | undefined {
  try {
    return new Date(new X509Certificate(pem).validTo)
  } catch {
    return undefined
  }
}

/** The place of the master key and advice on copies, as the rest of a line. Empty if the key is a setting. */
export async function describeKeyFile(config: Config): Promise<string> {
  if (config.masterKey) return ''
  const file = masterKeyFile(config)
  const found = await stat(file).catch(() => undefined)
  const open = found && (found.mode & 0o077) !== 0 ? `, and other users can read it: chmod 600 ${file}` : ''
  return `; it is in ${file}${open}. Keep a copy on another machine: a backup does not contain it`
}

const isWritable = (folder: string) =>
  access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
const gib = (bytes: number) => (bytes / 1024 ** 3).toFixed(1)
