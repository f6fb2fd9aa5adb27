import { expect, test } from 'vitest';
import { joinCommand, readPairs, splitCommand } from '$/settings/lines';

test('a command is split at spaces outside of quotes', () => {
	expect(splitCommand('npx -y  server /srv/docs')).toEqual(['npx', '-y', 'server', '/srv/docs']);
	expect(splitCommand(`run "My Files" 'a"b' c\\ d ''`)).toEqual([
		'run',
		'My Files',
		'a"b',
		'c d',
		''
	]);
	expect(splitCommand('   ')).toEqual([]);
});

test.each([[['a', 'b c', "it's", '', '$HOME', 'x"y', 'back\\slash']], [['/usr/bin/env']], [[]]])(
	'%j is read again as it was written',
	(words) => {
		expect(splitCommand(joinCommand(words))).toEqual(words);
	}
);

test('pairs have a name and a value in each line', () => {
	expect(readPairs('A=1\n\n B = x=y \n', '=')).toEqual({ A: '1', B: 'x=y' });
	expect(readPairs('Authorization: Bearer a:b', ':')).toEqual({ Authorization: 'Bearer a:b' });
	expect(readPairs('no separator', '=')).toBeNull();
	expect(readPairs('=value', '=')).toBeNull();
	expect(readPairs('', '=')).toEqual({});
});
