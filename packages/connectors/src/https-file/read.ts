import { type Check, checkSteps } from '@penstock/connector'
import { fileReading } from '../object-stores/file-store.ts'
import { addressOf } from './address.ts'
import { connectorErrorOf, openRemoteFile, redirectsMax } from './remote-file.ts'

export const { open, discoverColumns, discoverWorkbook } = fileReading((context) =>
  openRemoteFile(context, addressOf(context.secrets, context.settings.path)),
)

/** Asks for the first byte of the URL. Of a folder, it can only be seen that there is a server, which answers. */
export const check: Check = checkSteps([
  'file',
  async (context) => {
    const address = addressOf(context.secrets, context.settings.path)
    const { pathname, host } = address.url
    if (!pathname.endsWith('/')) {
      const { name, sizeBytes } = await openRemoteFile(context, address).describe()
      return sizeBytes === undefined ? `${name} is there.` : `${name} exists and has ${sizeBytes} bytes.`
    }
    const { egress, signal } = context
    const response = await egress.request(address.url, { headers: address.headers, signal, redirectsMax })
    await response.body?.cancel()
    // Whether a folder can be listed says nothing about the files in it.
    if (response.status === 401) throw connectorErrorOf(response, host)
    return `${host} answers. Whether the file exists is known when it is read.`
  },
])
