#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# browser.py FILE.svg - a flame graph in a real browser: Chromium, by WebDriver
#
# FILE is of the samples of scripts/prove/samples. The last line counts. Prints "ok - ..." or "FAIL - ..." for what a
# user does: looks, clicks on a frame, on one of its callers, and searches.
import json, os, socket, subprocess, sys, time, urllib.request

with socket.socket() as s:
	s.bind(('127.0.0.1', 0))
	port = s.getsockname()[1]
driver = subprocess.Popen(['chromedriver', f'--port={port}'], stdout=subprocess.DEVNULL,
			  stderr=subprocess.DEVNULL)
session = ''

def call(method, path, body=None):
	data = None if method == 'GET' else json.dumps(body or {}).encode()
	request = urllib.request.Request(f'http://127.0.0.1:{port}/session{session}{path}', data,
					 {'Content-Type': 'application/json'}, method=method)
	with urllib.request.urlopen(request, timeout=120) as answer:
		return json.load(answer)['value']

def script(text):
	return call('POST', '/execute/sync', {'script': text, 'args': []})

def click(selector):
	element = call('POST', '/element', {'using': 'css selector', 'value': selector})
	call('POST', f'/element/{list(element.values())[0]}/click')

# Name, x and width of each frame that is shown, whether it is marked, its text, and by how much
# that goes beyond the frame
def frames():
	return {f[0]: f[1:] for f in script('''
		return [].filter.call(document.querySelectorAll('g'), function (g) {
			return g.style.display != 'none';
		}).map(function (g) {
			var r = g.querySelector('rect'), t = g.querySelector('text');
			var b = t.getBBox(), e = b.x + b.width - r.x.baseVal.value - r.width.baseVal.value;
			return [g.getAttribute('data-n'), Math.round(r.x.baseVal.value),
				Math.round(r.width.baseVal.value), g.classList.contains('m'),
				t.textContent, t.textContent ? e : 0];
		});''')}

results = []
def expect(what, right, seen=''):
	results.append(right)
	print(f'ok - {what}' if right else f'FAIL - {what}: {seen}', flush=True)

try:
	for _ in range(100):
		try:
			call('GET', '/../status')
			break
		except OSError:
			time.sleep(.2)
	started = call('POST', '', {'capabilities': {'alwaysMatch': {'goog:chromeOptions': {'args': [
		'--headless=new', '--no-sandbox', '--disable-gpu', '--window-size=1400,900']}}}})
	session = '/' + started['sessionId']
	call('POST', '/url', {'url': 'file://' + os.path.abspath(sys.argv[1])})

	all = frames()
	strange = '<script>alert(1)<!--&"\'x'
	expect('all frames are there, and names are text',
	       set(all) == {'all', 'prog', 'main', 'left', 'right', 'x' * 200, strange} and
	       script("return document.querySelectorAll('script').length") == 1, all)
	expect('frames are as wide as their counts', all['left'][:2] == [0, 720] and
	       all['right'][:2] == [720, 480] and all['main'][1] == 1200, all)
	expect('no name goes beyond its frame', max(f[4] for f in all.values()) <= 0, all)

	click('g[data-n="right"]')
	now = frames()
	expect('a click shows a frame alone, with its callers',
	       set(now) == {'all', 'prog', 'main', 'right', strange} and
	       now['right'][:2] == [0, 1200] and now[strange][1] == 1200, now)
	expect('no name goes beyond its frame then', max(f[4] for f in now.values()) <= 0, now)
	click('g[data-n="main"]')
	expect('a click on a caller shows more again', frames() == all, frames())

	click('#s')
	call('POST', '/alert/text', {'text': '^(le|ma)'})
	call('POST', '/alert/accept')
	now = frames()
	expect('a search marks what matches', {n for n, f in now.items() if f[2]} == {'left', 'main'},
	       now)
	title = script("return document.getElementById('s').textContent")
	expect('and tells its share, the frames inside others not twice', title.endswith(' 100.00%'),
	       title)
	click('#s')
	call('POST', '/alert/text', {'text': '('})
	call('POST', '/alert/accept')
	expect('no regular expression changes nothing', frames() == now, frames())
	click('#s')
	call('POST', '/alert/dismiss')
	expect('no text marks nothing', not any(f[2] for f in frames().values()), frames())
except Exception as error:
	expect('a browser shows the picture', False, error)
finally:
	if session:
		call('DELETE', '')
	driver.terminate()
print(f'{results.count(True)} passed, {results.count(False)} failed, 0 skipped')
sys.exit(False in results)
