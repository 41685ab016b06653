import { Alert, List, Text } from '@mantine/core'
import type { Preview } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import { components } from '../strings/components.ts'
import { count } from './numbers.ts'

/** Problems that a destination reports before anything is sent, each with what to do; nothing if there are none. */
export function Findings({ findings }: Pick<Preview, 'findings'>) {
  if (findings.length === 0) return null
  return (
    <Alert
      variant="default"
      icon={<IconAlertTriangle color="var(--mantine-color-orange-filled)" aria-hidden />}
      title={components.findings(findings.length, count(findings.length))}
    >
      <Text size="sm">{components.findingsHelp}</Text>
      <List size="sm" mt="xs" spacing={6}>
        {findings.map(({ code, column, message }) => (
          <List.Item key={`${code} ${column} ${message}`} style={{ overflowWrap: 'anywhere' }}>
            {message}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
