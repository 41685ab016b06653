import { Button, Code, Container, Stack, Text, Title } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { useLocation } from 'react-router'
import { shell as say } from '../strings/shell.ts'

/** Catches errors of its children and shows them: never a blank page. Navigating to another page resets it. */
export function Guard({ children }: { children: ReactNode }) {
  return <Boundary page={useLocation().pathname}>{children}</Boundary>
}

class Boundary extends Component<{ page: string; children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown) {
    return { error: error ?? new Error() }
  }

  override componentDidUpdate({ page }: { page: string }) {
    if (page !== this.props.page && this.state.error !== undefined) this.setState({ error: undefined })
  }

  override render() {
    const { error } = this.state
    return error === undefined ? this.props.children : <Crashed error={error} />
  }
}

function Crashed({ error }: { error: unknown }) {
  return (
    <Container size="sm" py="xl">
      <Stack align="flex-start">
        <Title order={1} size="h3">
          {say.crashed}
        </Title>
        <Text>{say.crashedHelp}</Text>
        <Button onClick={() => window.location.reload()}>{say.reload}</Button>
        <Code block>{error instanceof Error ? (error.stack ?? error.message) : String(error)}</Code>
      </Stack>
    </Container>
  )
}
