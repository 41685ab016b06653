import { Button, Tooltip } from '@mantine/core'
import { csvOf } from '@penstock/wire'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { saveFile } from '../../components/save-file.ts'
import { everyReport, type VolumeOf } from '../../components/volume.ts'
import { reports as say } from '../../strings/reports.ts'

/** Saves all pages of the report that is shown as a file for spreadsheets. */
export function Download({ of, by, disabled }: { of: VolumeOf; by: 'day' | 'month'; disabled: boolean }) {
  const [isBusy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    try {
      const lines = await linesOf(of, by)
      const { id, name, [by]: period, read, accepted, rejected, replayed, bytes } = say.columns
      const text = csvOf([[id, name, period, read, accepted, rejected, replayed, bytes], ...lines])
      const what = of.accountId ? 'connections' : 'accounts'
      saveFile(say.file(what, of.startDate, of.endDate), text, 'text/csv;charset=utf-8')
      notifyDone(say.downloaded(count(lines.length)))
    } catch (error) {
      notifyFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Tooltip label={say.downloadHelp} multiline maw={280}>
      <Button
        variant="default"
        leftSection={<IconDownload size={18} aria-hidden />}
        loading={isBusy}
        disabled={disabled}
        onClick={() => void download()}
      >
        {say.download}
      </Button>
    </Tooltip>
  )
}

async function linesOf(of: VolumeOf, by: 'day' | 'month') {
  const lines: (string | number)[][] = []
  for await (const { id, name, report } of everyReport(of)) {
    const periods =
      by === 'day'
        ? report.days.map((day) => ({ ...day, period: day.day }))
        : report.months.map((month) => ({ ...month, period: month.month }))
    for (const { period, read, accepted, rejected, replayed, bytes } of periods)
      lines.push([id, name, period, read, accepted, rejected, replayed, bytes])
  }
  return lines
}
