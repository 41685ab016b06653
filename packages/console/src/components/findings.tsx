import { Alert, List, Text } from '@mantine/core'
import { type Preview, wouldFail } from '@penstock/wire'
import { IconAlertTriangle, IconCircleX } from '@tabler/icons-react'
import { components } from '../strings/components.ts'
import { adviceBeforeTransfer } from './advice.ts'
import { count } from './numbers.ts'

type FindingList = Preview['findings']

/** Problems that are found before anything is sent, each with what to do; nothing if there are none. */
export function Findings({ findings }: { findings: FindingList }) {
  const failing = findings.filter(({ code }) => wouldFail(code))
  const warnings = findings.filter(({ code }) => !wouldFail(code))
  // An error has its own advice; the values, the settings or the table cause other findings.
  const isKnown = failing.every(({ code }) => adviceBeforeTransfer(code) !== undefined)
  return (
    <>
      {failing.length > 0 && (
        <Alert
          variant="default"
          icon={<IconCircleX color="var(--mantine-color-red-filled)" aria-hidden />}
          title={components.failing}
        >
          {!isKnown && <Text size="sm">{components.findingsFix}</Text>}
          <Messages findings={failing} />
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert
          variant="default"
          icon={<IconAlertTriangle color="var(--mantine-color-orange-filled)" aria-hidden />}
          title={components.findings(warnings.length, count(warnings.length))}
        >
          <Text size="sm">{components.findingsHelp}</Text>
          <Messages findings={warnings} />
        </Alert>
      )}
    </>
  )
}

const Messages = ({ findings }: { findings: FindingList }) => (
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
)
