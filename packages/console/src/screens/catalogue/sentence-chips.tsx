import { Button, Group, Menu, Text } from '@mantine/core'
import { IconCheck, IconChevronDown, IconTag } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Logo, logoOfPlatform } from '../../components/connector-name.tsx'
import { route as say } from '../../strings/catalogue.ts'
import type { End, Route } from './route.ts'
import { replacePart, type Sentence, type SentencePart } from './sentence.ts'
import { entities } from './vocabulary.ts'

const othersMax = 12

/** Shows how the sentence was read. Each understood word is a chip with a menu of what else it can mean. */
export function SentenceChips({
  sentence,
  route,
  onChange,
}: {
  sentence: Sentence
  route: Route | undefined
  /** @param text the sentence with another word */
  onChange: (text: string) => void
}) {
  const ends = route ? [...(route.source ? [route.source] : []), ...route.destinations] : []
  const unknown = sentence.parts.flatMap((part) => (part.as === 'unknown' ? [part.text] : []))
  return (
    <Group gap={6} role="group" aria-label={say.readAs}>
      <Text size="sm" c="dimmed">
        {say.readAs}
      </Text>
      {sentence.parts.map((part) => (
        <PartChip
          key={part.start}
          part={part}
          end={ends.find((one) => one.part?.start === part.start)}
          onPick={(words) => onChange(replacePart(sentence, part, words))}
        />
      ))}
      {unknown.length > 0 && (
        <Text size="sm" c="dimmed">
          {say.notUnderstood(unknown.join(' '))}
        </Text>
      )}
    </Group>
  )
}

function PartChip({
  part,
  end,
  onPick,
}: {
  part: SentencePart
  end: End | undefined
  onPick: (words: string) => void
}) {
  if (part.as === 'unknown') return null
  if (part.as === 'link') {
    return (
      <Text size="sm" c="dimmed">
        {say.link[part.link]}
      </Text>
    )
  }
  if (part.as === 'entity') {
    return (
      <Chip
        label={say.entities[part.entity.id] ?? part.text}
        icon={<IconTag size={14} aria-hidden />}
        options={entities.map(({ id, words: [word = id] }) => ({
          key: id,
          label: say.entities[id] ?? word,
          isPicked: id === part.entity.id,
          onPick: () => onPick((say.entities[id] ?? word).toLowerCase()),
        }))}
      />
    )
  }
  if (!end) return null
  return (
    <Chip
      label={end.connector.name}
      icon={<Logo src={logoOfPlatform(end.connector.platformId)} size={16} />}
      options={[end.connector, ...end.others.slice(0, othersMax)].map((one) => ({
        key: one.connectorId,
        label: one.name,
        icon: <Logo src={logoOfPlatform(one.platformId)} size={16} />,
        isPicked: one === end.connector,
        onPick: () => onPick(one.name),
      }))}
    />
  )
}

function Chip({
  label,
  icon,
  options,
}: {
  label: string
  icon: ReactNode
  options: readonly { key: string; label: string; icon?: ReactNode; isPicked: boolean; onPick: () => void }[]
}) {
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button
          variant="light"
          c="var(--mantine-color-text)"
          size="compact-sm"
          radius="xl"
          fw={500}
          leftSection={icon}
          rightSection={<IconChevronDown size={14} aria-hidden />}
          aria-label={say.change(label)}
        >
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
        <Menu.Label>{say.changeTo}</Menu.Label>
        {options.map((option) => (
          <Menu.Item
            key={option.key}
            leftSection={option.icon}
            rightSection={option.isPicked && <IconCheck size={14} aria-hidden />}
            onClick={option.onPick}
          >
            {option.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
