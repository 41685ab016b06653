import { Box, Button, type ButtonProps, Container, Group, Paper, Stack, Text, Title } from '@mantine/core'
import type { ConnectPage } from '@penstock/wire'
import { type CSSProperties, createContext, type ReactNode, useContext, useEffect, useRef } from 'react'
import { connectPage as say } from '../strings/connect-page.ts'

/** What is around every step: who asks, in their colours. */

type Brand = Pick<ConnectPage, 'organizationName' | 'logo' | 'colours'>
const BrandContext = createContext<Brand | undefined>(undefined)

export function Frame({ brand, children }: { brand: Brand | undefined; children: ReactNode }) {
  const { logo, colours, organizationName } = brand ?? {}
  const look: CSSProperties = colours
    ? { background: colours.primary, color: colours.text }
    : { background: 'var(--penstock-surface)', borderBottom: '1px solid var(--mantine-color-default-border)' }
  return (
    <BrandContext value={brand}>
      <Box mih="100vh" style={{ display: 'flex', flexDirection: 'column' }}>
        {brand && (
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
        )}
        <Container component="main" size={600} w="100%" px="md" py="lg" style={{ flex: 1 }}>
          {children}
        </Container>
        <Text component="footer" size="xs" c="dimmed" ta="center" pb="md">
          {say.by}
        </Text>
      </Box>
    </BrandContext>
  )
}

/** The heading of a step, which gets the focus when the step begins, so that screen readers say where they are. */
export function Heading({ children }: { children: string }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = children
    heading.current?.focus()
  }, [children])
  return (
    <Title order={1} size="h3" ref={heading} tabIndex={-1} style={{ outline: 'none', overflowWrap: 'anywhere' }}>
      {children}
    </Title>
  )
}

/** A page that says how things are. */
export function Notice({ title, help }: { title: string; help: string }) {
  return (
    <Paper withBorder p="lg">
      <Stack gap="sm">
        <Heading>{title}</Heading>
        <Text>{help}</Text>
      </Stack>
    </Paper>
  )
}

/** The button that leads on, in the colours of the organization, whose contrast the service has checked. */
export function BrandButton(props: ButtonProps & { onClick?: () => void; type?: 'submit'; children: ReactNode }) {
  const colours = useContext(BrandContext)?.colours
  const vars = colours && {
    '--button-bg': colours.primary,
    '--button-hover': colours.primary,
    '--button-color': colours.text,
  }
  return <Button type="button" {...props} {...(vars && !props.disabled ? { style: vars as CSSProperties } : {})} />
}
