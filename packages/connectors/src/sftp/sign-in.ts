import { number, text } from '@penstock/connector'

/** Which server, and who signs in to it. @param secrets those that the connector signs in with */
export const server = (secrets: readonly string[]) => ({
  hostname: text({
    label: 'Hostname',
    description: 'Name or IP address of the server',
    required: true,
    binds: secrets,
  }),
  port: number({
    label: 'Port',
    description: 'Port on which the server listens',
    required: true,
    default: 22,
    min: 1,
    max: 65535,
    binds: secrets,
  }),
  username: text({ label: 'Username', description: 'User who signs in to the server', required: true }),
})

/** Optional, because most people do not know it; with it, nobody can pass for the server. */
export const hostKey = (secrets: readonly string[]) => ({
  hostKeyFingerprint: text({
    label: 'Host key fingerprint',
    description:
      'Fingerprint of the server’s key as ssh-keygen -lf prints it, SHA256: and Base64; several are separated by commas. Without one, any key is accepted',
    binds: secrets,
  }),
})
