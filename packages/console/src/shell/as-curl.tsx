import { ActionIcon, Badge, Button, Code, CopyButton, Drawer, Group, Stack, Text, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconTerminal2 } from '@tabler/icons-react'
import { useSyncExternalStore } from 'react'
import { callStore, curlOf } from '../api/calls.ts'
import { shell as say } from '../strings/shell.ts'

/** Shows the calls that the page has just made, each as a line for a shell. */
export function AsCurl() {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Tooltip label={say.asCurlTitle}>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={say.asCurl} onClick={open}>
          <IconTerminal2 size={20} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Drawer opened={opened} onClose={close} position="right" size="lg" title={say.asCurlTitle}>
        {opened && <Calls />}
      </Drawer>
    </>
  )
}

function Calls() {
  const calls = useSyncExternalStore(callStore.subscribe, callStore.read)
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {calls.length > 0 ? say.asCurlHelp : say.asCurlNone}
      </Text>
      {calls.map((call) => {
        const line = curlOf(call, window.location.origin)
        return (
          <Stack key={call.id} gap={4}>
            <Group justify="space-between">
              <Badge variant="light" color={(call.status ?? 200) < 400 ? 'teal' : 'red'} autoContrast>
                {call.method} · {call.status ?? say.waiting}
              </Badge>
              <CopyButton value={line}>
                {({ copied, copy }) => (
                  <Button size="compact-xs" variant="subtle" onClick={copy}>
                    {copied ? say.copied : say.copy}
                  </Button>
                )}
              </CopyButton>
            </Group>
            <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
              {line}
            </Code>
          </Stack>
        )
      })}
    </Stack>
  )
}
