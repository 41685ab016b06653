import { Box, Container, Paper, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { connectPage as say } from '../strings/connect-page.ts'
import { type Brand, Branded } from './brand.tsx'

/** Frame around every step: the name of the organization, in its colours. */
export function Frame({ brand, children }: { brand: Brand | undefined; children: ReactNode }) {
  return (
    <Box mih="100vh" style={{ display: 'flex', flexDirection: 'column' }}>
      <Branded brand={brand}>
        <Container component="main" size={600} w="100%" px="md" py="lg" style={{ flex: 1 }}>
          {children}
        </Container>
        <Text component="footer" size="xs" c="dimmed" ta="center" pb="md">
          {say.by}
        </Text>
      </Branded>
    </Box>
  )
}

/** The heading of a step, which gets the focus when the step begins, so that screen readers announce it. */
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
