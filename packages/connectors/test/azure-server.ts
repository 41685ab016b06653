import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { azureBlobs } from '../src/azure-blob-storage/azure-blobs.ts'
import { type AzureClient, makeAzureClient } from '../src/azure-blob-storage/azure-client.ts'
import { containerOf } from '../src/azure-blob-storage/container.ts'
import { type FailingProxy, startFailingProxy } from './failing-proxy.ts'

/** Azurite's one account, whose key is no secret. */
const account = 'devstoreaccount1'
const accountKey = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

/** Azurite, Microsoft's own emulator of Azure Storage, behind a proxy that fails when a test says so. */
export type AzureTestServer = {
  readonly proxy: FailingProxy
  /** For the account's name in Azure itself, and the way to the emulator. */
  readonly secrets: Values
  readonly routes: Readonly<Record<string, string>>
  /** The address of a container, as Azure would have it. */
  address(container: string): string
  /** The address of a container with a signature, that allows `permissions` until then. */
  sasUrl(container: string, permissions: string, until?: Date): string
  client(container: string): AzureClient
  put(container: string, blob: string, body: Uint8Array | string): Promise<void>
  read(container: string, blob: string): Promise<Buffer>
  names(container: string, prefix: string): Promise<string[]>
  empty(container: string, prefix: string): Promise<void>
  close(): Promise<void>
}

export const testServerName = 'azurite behind a proxy'

export async function startAzureTestServer(containers: readonly string[]): Promise<AzureTestServer> {
  const program = fileURLToPath(import.meta.resolve('azurite/dist/src/blob/main.js'))
  const options = ['--inMemoryPersistence', '--blobHost', '127.0.0.1', '--blobPort', '0']
  const azurite = spawn(process.execPath, [program, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(azurite, 'exit')
  const kill = () => azurite.kill()
  process.once('exit', kill)
  const address = await addressOf(azurite.stdout)
  const proxy = await startFailingProxy(address)
  const service = `https://${account}.blob.core.windows.net`
  const secrets = { authType: 'account-key', accountName: account, accessKey: accountKey }
  const permission = 'test'
  const testServer: AzureTestServer = {
    proxy,
    secrets,
    routes: { [service]: proxy.url },
    address: (container) => `${service}/${container}/`,
    sasUrl: (container, permissions, until = new Date(Date.now() + 3_600_000)) =>
      `${service}/${container}?${signature(container, permissions, until)}`,
    client(name) {
      const context = testContext({ secrets, routes: { [service]: address } })
      return makeAzureClient(context, { ...containerOf(context), name })
    },
    async put(container, blob, body) {
      const headers = { 'x-ms-blob-type': 'BlockBlob' }
      await testServer.client(container).request({ method: 'PUT', blob, headers, body, permission })
    },
    async read(container, blob) {
      return Buffer.from(await (await testServer.client(container).request({ blob, permission })).arrayBuffer())
    },
    async names(container, prefix) {
      const names: string[] = []
      for await (const { name } of azureBlobs(testServer.client(container)).list(prefix)) names.push(name)
      return names
    },
    async empty(container, prefix) {
      for (const blob of await testServer.names(container, prefix)) {
        await testServer.client(container).request({ method: 'DELETE', blob, permission })
      }
    },
    async close() {
      await proxy.close()
      process.off('exit', kill)
      kill()
      await ended
    },
  }
  for (const name of containers) {
    await testServer.client(name).request({ method: 'PUT', query: { restype: 'container' }, permission })
  }
  return testServer
}

/** Where Azurite says that it listens. */
async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(/successfully/.test(line) ? line : '') ?? []
    if (!address) continue
    // Reads and discards its later output, so that the server is never blocked by it.
    output.resume()
    return address
  }
  throw new Error('azurite ended before it listened')
}

/** A shared access signature for a container, as Azure's description of service signatures says. */
function signature(container: string, permissions: string, until: Date): string {
  const version = '2021-12-02'
  const ends = until.toISOString().replace(/\.\d+/, '')
  const fields = [
    permissions,
    '',
    ends,
    `/blob/${account}/${container}`,
    '',
    '',
    '',
    version,
    'c',
    '',
    '',
    '',
    '',
    '',
    '',
    '',
  ]
  const signed = createHmac('sha256', Buffer.from(accountKey, 'base64')).update(fields.join('\n')).digest('base64')
  return String(new URLSearchParams({ sv: version, sr: 'c', sp: permissions, se: ends, sig: signed }))
}
