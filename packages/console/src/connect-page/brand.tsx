import { Box, Button, type ButtonProps, Container, Group, Text } from '@mantine/core'
import type { ConnectPage } from '@penstock/wire'
import { type CSSProperties, createContext, type ReactNode, useContext } from 'react'

/** Branding of an organization on the page of a connect link. The preview in the console uses the same components. */

export type Brand = Pick<ConnectPage, 'organizationName' | 'logo' | 'colours'>
const BrandContext = createContext<Brand | undefined>(undefined)

/** Everything below is in the colours of the organization. */
export function Branded({ brand, children }: { brand: Brand | undefined; children: ReactNode }) {
  return (
    <BrandContext value={brand}>
      {brand && <BrandHeader {...brand} />}
      {children}
    </BrandContext>
  )
}

/** Where a colour is that of the page behind it, a line in the colour of the text is still seen. */
const lineOf = ({ primary, text }: NonNullable<Brand['colours']>) =>
  `1px solid color-mix(in srgb, ${text} 35%, ${primary})`

function BrandHeader({ organizationName, logo, colours }: Brand) {
  const look: CSSProperties = colours
    ? { background: colours.primary, color: colours.text, borderBottom: lineOf(colours) }
    : { background: 'var(--penstock-surface)', borderBottom: '1px solid var(--mantine-color-default-border)' }
  return (
    <Box component="header" py="sm" style={look}>
      <Container size={600} px="md">
        <Group gap="sm" wrap="nowrap" pr={40}>
          {logo && <img src={logo} alt="" style={{ height: 32, maxWidth: 160, objectFit: 'contain' }} />}
          <Text span fw={650} style={{ overflowWrap: 'anywhere' }}>
            {organizationName}
          </Text>
        </Group>
      </Container>
    </Box>
  )
}

/** The button that leads on, in the colours of the organization, whose contrast the service has checked. */
export function BrandButton(props: ButtonProps & { onClick?: () => void; type?: 'submit'; children: ReactNode }) {
  const colours = useContext(BrandContext)?.colours
  const vars = colours && {
    '--button-bg': colours.primary,
    '--button-hover': colours.primary,
    '--button-color': colours.text,
    '--button-bd': lineOf(colours),
  }
  return <Button type="button" {...props} {...(vars && !props.disabled ? { style: vars as CSSProperties } : {})} />
}
