import { Alert, Button, Group, Modal, Stack, Table, Text } from '@mantine/core'
import type { AppliedMappingTemplate, MappingTemplate } from '@penstock/wire'
import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { useRead } from '../../../api/queries.ts'
import { Loaded } from '../../../components/loaded.tsx'
import { mapper } from '../../../strings/mapper.ts'
import { mappingTemplates as say } from '../../../strings/mapping-templates.ts'
import type { MappingChoice } from '../mapping/mapping.ts'
import { wordsOfReading } from '../mapping/words.ts'
import { PickTemplate } from './pick-template.tsx'
import type { Applied, TemplateTarget } from './shared.ts'
import { TemplateFindings, TemplateLosses } from './template-findings.tsx'
import { applyLines, asSaved, changesBetween, findingsOf, type TemplateChange } from './template-lines.ts'

type DialogProps = {
  target: TemplateTarget
  /** The template that is picked first; undefined: none. */
  first: MappingTemplate | undefined
  onApply: (applied: Applied) => void
  onClose: () => void
}

/** Picks a template, shows what it changes, and applies it. */
export function ApplyTemplate({ target, first, onApply, onClose }: DialogProps) {
  const [picked, setPicked] = useState(first)
  const apply = (applied: Applied) => {
    onApply(applied)
    onClose()
  }
  return (
    <Modal opened onClose={onClose} size="lg" returnFocus={false} title={picked?.name ?? say.applyTitle}>
      {picked === undefined ? (
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {say.applyHelp(target.destinationName)}
          </Text>
          <PickTemplate target={target} onPick={setPicked} />
        </Stack>
      ) : target.columns ? (
        <Matched
          template={picked}
          columns={target.columns}
          target={target}
          onApply={apply}
          onBack={() => setPicked(undefined)}
        />
      ) : (
        <AsSaved template={picked} target={target} onApply={apply} onBack={() => setPicked(undefined)} />
      )}
    </Modal>
  )
}

type StepProps = {
  template: MappingTemplate
  target: TemplateTarget
  onApply: (applied: Applied) => void
  onBack: () => void
}

/** The template on the columns of the source. */
function Matched({ columns, ...step }: StepProps & { columns: readonly string[] }) {
  const query = useRead('applyMappingTemplate', {
    id: step.template.id,
    body: { columns: [...new Set(columns)].filter((column) => column !== '') },
  })
  return (
    <Loaded query={query} lines={6}>
      {({ reply }) => <Changes applied={reply} {...step} />}
    </Loaded>
  )
}

/** The template as it was saved, if the columns of the source are not known. */
function AsSaved(step: StepProps) {
  const query = useRead('getMappingTemplate', { id: step.template.id })
  return (
    <Loaded query={query} lines={6}>
      {({ reply }) => <Changes applied={asSaved(reply.mapping)} isUnread {...step} />}
    </Loaded>
  )
}

function Changes({
  template: { name },
  target: { lines, hasRecords },
  applied,
  isUnread = false,
  onApply,
  onBack,
}: StepProps & { applied: AppliedMappingTemplate; isUnread?: boolean }) {
  const after = applyLines(lines, applied, hasRecords)
  const changes = changesBetween(lines, after, applied)
  const findings = findingsOf(applied)
  const [back, apply] = [useRef<HTMLButtonElement>(null), useRef<HTMLButtonElement>(null)]
  // The option that was picked is gone.
  useEffect(() => (apply.current?.disabled ? back : apply).current?.focus(), [back, apply])
  return (
    <Stack gap="md">
      {isUnread && (
        <Alert color="gray" icon={<IconInfoCircle aria-hidden />}>
          {say.unread}
        </Alert>
      )}
      {findings.length > 0 && (
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={say.missingTitle(findings.length)}>
          <TemplateFindings findings={findings} hasRecords={hasRecords} />
        </Alert>
      )}
      {applied.losses.length > 0 && (
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={say.lossesTitle}>
          <TemplateLosses losses={applied.losses} />
        </Alert>
      )}
      <Text size="sm" fw={600} role="status">
        {say.changes(changes.length)}
      </Text>
      {changes.length === 0 ? (
        <Text size="sm" c="dimmed">
          {say.unchanged}
        </Text>
      ) : (
        <ChangesTable changes={changes} hasRecords={hasRecords} />
      )}
      <Group justify="flex-end">
        <Button ref={back} variant="default" onClick={onBack}>
          {say.back}
        </Button>
        <Button
          ref={apply}
          disabled={changes.length === 0}
          onClick={() => onApply({ name, before: lines, after, findings, losses: applied.losses })}
        >
          {say.applyThis}
        </Button>
      </Group>
    </Stack>
  )
}

function ChangesTable({ changes, hasRecords }: { changes: readonly TemplateChange[]; hasRecords: boolean }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by the keyboard too
    <section tabIndex={0} aria-label={say.changes(changes.length)} style={{ maxHeight: '45dvh', overflow: 'auto' }}>
      <Table verticalSpacing={6} layout="fixed" stickyHeader>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{say.field}</Table.Th>
            <Table.Th>{say.now}</Table.Th>
            <Table.Th>{say.after}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody style={{ overflowWrap: 'anywhere' }}>
          {changes.map(({ field, before, after, templateColumn }) => (
            <Table.Tr key={field}>
              <Table.Td>{hasRecords ? mapper.labelOf(field) : field}</Table.Td>
              <Table.Td c="dimmed">{wordsOf(before)}</Table.Td>
              <Table.Td>
                {wordsOf(after)}
                {templateColumn !== undefined && (
                  <Text size="xs" c="dimmed">
                    {say.templateColumn(templateColumn)}
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}

function wordsOf(choice: MappingChoice | undefined): string {
  if (!choice || choice.kind === 'empty') return say.notMapped
  if (choice.kind === 'value') return say.always(choice.value)
  const from = choice.kind === 'column' ? choice.column : choice.expression
  if (from === '') return say.notMapped
  return [from, ...wordsOfReading(choice)].join(' · ')
}
