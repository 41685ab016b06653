import { Group, Image, Text } from '@mantine/core'
import { addressOf } from '../place.ts'

/** A platform's logo, as the service serves it for its identifier or the address in a connection's end. */
export function Logo({ src, size = 24 }: { src: string; size?: number }) {
  // Addresses are absolute; the page may have been opened under another name of the same service.
  const { pathname } = new URL(src, window.location.origin)
  return <Image src={pathname} alt="" w={size} h={size} fit="contain" radius={4} style={{ flex: 'none' }} />
}

export const logoOfPlatform = (platformId: string): string => addressOf(`/logos/${platformId}.svg`)

/** A connector by its logo and name. */
export function ConnectorName({ logo, name, size = 20 }: { logo: string; name: string; size?: number }) {
  return (
    <Group gap="xs" wrap="nowrap" miw={0}>
      <Logo src={logo} size={size} />
      <Text span inherit truncate>
        {name}
      </Text>
    </Group>
  )
}
