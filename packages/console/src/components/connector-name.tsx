import { VisuallyHidden } from '@mantine/core'
import { addressOf } from '../base-path.ts'

/** A platform's logo, as the service serves it for its identifier or the address in a connection's end. */
export function Logo({ src, size = 24 }: { src: string; size?: number }) {
  // Addresses are absolute; the page may have been opened under another name of the same service.
  const { pathname } = new URL(src, window.location.origin)
  return <img className="logo" src={pathname} alt="" width={size} height={size} loading="lazy" />
}

export const logoOfPlatform = (platformId: string): string => addressOf(`/logos/${platformId}.svg`)

/** A connector by its logo and name. Lists have many: these are plain elements, which are drawn sooner. */
export function ConnectorName({
  logo,
  name,
  brand = name,
  size = 20,
}: {
  logo: string
  name: string
  /** The name of the connector, if the name is another one. */
  brand?: string
  size?: number
}) {
  return (
    <span className="connector" title={brand === name ? undefined : brand}>
      <Logo src={logo} size={size} />
      <span>
        {name}
        {brand !== name && <VisuallyHidden> ({brand})</VisuallyHidden>}
      </span>
    </span>
  )
}
