import { Button, Code, Container, Stack, Text, Title } from '@mantine/core'
import { Link, useRouteError } from 'react-router'
import { Empty } from '../parts/page.tsx'
import { strings } from '../strings/index.ts'

const say = strings.shell

/** Stands where a page would be that does not exist. */
export function NotFound() {
  return (
    <Empty
      title={say.notFound}
      help={say.notFoundHelp}
      action={
        <Button component={Link} to="/">
          {say.backToStart}
        </Button>
      }
    />
  )
}

/** Stands where a screen broke: never a blank page. */
export function Crashed() {
  const error = useRouteError()
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
