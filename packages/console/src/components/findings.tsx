import { Alert, List, Text } from '@mantine/core'
import type { Preview } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import { components } from '../strings/components.ts'
import { adviceBeforeTransfer } from './advice.ts'
import { count } from './numbers.ts'

/** Problems that a destination reports before anything is sent, each with what to do; nothing if there are none. */
export function Findings({ findings }: Pick<Preview, 'findings'>) {
  if (findings.length === 0) return null
  // An error has its own advice; the values, the settings or the table cause other findings.
  const isKnown = findings.every(({ code }) => adviceBeforeTransfer(code) !== undefined)
  return (
    <Alert
      variant="default"
      icon={<IconAlertTriangle color="var(--mantine-color-orange-filled)" aria-hidden />}
      title={components.findings(findings.length, count(findings.length))}
    >
      <Text size="sm">
        {components.findingsHelp} {!isKnown && components.findingsFix}
      </Text>
      <List size="sm" mt="xs" spacing={6}>
        {findings.map(({ code, column, message }) => {
          const advice = adviceBeforeTransfer(code)
          return (
            <List.Item key={`${code} ${column} ${message}`} style={{ overflowWrap: 'anywhere' }}>
              {message}
              {advice !== undefined && (
                <Text size="sm" c="dimmed">
                  {advice}
                </Text>
              )}
            </List.Item>
          )
        })}
      </List>
    </Alert>
  )
}
