import { importManifest } from '@penstock/connectors/import-manifest'
import { namedValues, readInput } from './inputs.ts'

/**
 * `penstock import-source`: a manifest of the low-code CDK of Airbyte as values of the connector HTTP API. Prints the body with which the connector
 * is configured, and on standard error what was not carried and which secrets to add. Without a database.
 * The exit code is 0 if everything was carried, 2 if a part was not, and 1 if no stream was. Throws `ConfigError`, also if the file
 * cannot be read.
 */
export async function importSourceCommand(file: string, { value }: { value?: readonly string[] }): Promise<void> {
  const imported = importManifest(await readInput(file, 'manifest'), namedValues('--value', value))
  const { values, secrets, streams } = imported
  const findings = [...imported.problems, ...imported.gaps]
  for (const { path, message } of findings) process.stderr.write(`${path === '' ? '' : `${path}: `}${message}\n`)
  const inPart = streams.inPart > 0 ? `, ${streams.inPart} of them in part` : ''
  process.stderr.write(`${streams.carried} of ${streams.all} streams were carried${inPart}.\n`)
  if (secrets.length > 0) process.stderr.write(`Add to secretConfig: ${secrets.join(', ')}.\n`)
  if (streams.carried > 0) process.stdout.write(`${JSON.stringify({ secretConfig: values }, null, 2)}\n`)
  if (findings.length > 0) process.exitCode = streams.carried > 0 ? 2 : 1
}
