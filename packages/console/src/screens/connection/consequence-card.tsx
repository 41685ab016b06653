import { Alert, Button, Group, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { type Names, consequence as say } from '../../strings/consequence.ts'
import { type Cure, changesOfCure, consequenceOf, type SideSettings, type Ways, waysOf } from './consequence.ts'

/** Colours of the sentence. */
const colors = { works: 'teal', warns: 'yellow', fails: 'red' } as const

/** The consequence of the settings of both sides in one sentence, and buttons that end a bad consequence. */
export function ConsequenceCard({
  source,
  destination,
  names,
  isReadOnce = false,
  onSet,
  onKey,
}: {
  source: SideSettings
  destination: SideSettings
  names: Names
  /** Whether the source is a file that is usually read once, so that rows that come again are no reason to warn. */
  isReadOnce?: boolean
  onSet: (side: 'src' | 'dest', name: string, value: string) => void
  /** Leads to the columns of the key. */
  onKey: () => void
}) {
  const ways = waysOf(source, destination)
  if (!ways) return null
  if (isReadOnce && ways.read === 'all' && ways.write === 'add') {
    return (
      <Text size="sm" c="dimmed" role="status">
        {say.readOnce}
      </Text>
    )
  }
  const cureWith = (cure: Cure) => {
    const changes = changesOfCure(cure, source, destination)
    return (
      changes && (
        <Button
          key={cure}
          size="compact-sm"
          variant="default"
          onClick={() => {
            for (const { side, name, value } of changes) onSet(side, name, value)
          }}
        >
          {say.cure[cure]}
        </Button>
      )
    )
  }
  return (
    <ConsequenceLine ways={ways} names={names}>
      {lacksKey(ways) ? (
        <Button size="compact-sm" variant="default" onClick={onKey}>
          {say.chooseKey}
        </Button>
      ) : (
        consequenceOf(ways.read, ways.write).cures.map(cureWith)
      )}
    </ConsequenceLine>
  )
}

/** Whether rows are to be updated, and by no key. */
const lacksKey = ({ read, write, isKeyed }: Ways): boolean =>
  (write === 'update' || write === 'mirror') && !isKeyed && consequenceOf(read, write).tone !== 'fails'

/** The sentence. @param children its buttons or links */
export function ConsequenceLine({ ways, names, children }: { ways: Ways; names: Names; children: ReactNode }) {
  const noKey = lacksKey(ways)
  const tone = noKey ? 'warns' : consequenceOf(ways.read, ways.write).tone
  const { title, help } = noKey ? say.noKey : say.sentence[ways.read][ways.write](names)
  const Icon = tone === 'works' ? IconCircleCheck : IconAlertTriangle
  return (
    <Alert
      variant={tone === 'works' ? 'default' : 'light'}
      color={colors[tone]}
      icon={<Icon aria-hidden {...(tone === 'works' && { color: 'var(--mantine-color-teal-filled)' })} />}
      title={title}
      role={tone === 'works' ? 'status' : 'alert'}
    >
      <Group justify="space-between" gap="sm">
        <Text size="sm">{help}</Text>
        <Group gap="xs">{children}</Group>
      </Group>
    </Alert>
  )
}
